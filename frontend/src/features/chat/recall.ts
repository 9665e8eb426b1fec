/** Recall goes back through what was sent, as a shell does. It holds on only while the field shows what it brought. */
export class Recall {
	/** back is how many messages ago the one in the field was sent; 0 is what is being written. */
	#back = 0;
	#shown = '';

	/**
	 * go is what the field shows after ↑ (1, older) or ↓ (-1, newer), or nothing when the key is the field's own: there is
	 * text of the person's, or a line to go to.
	 */
	go(by: 1 | -1, text: string, caret: number, sent: string[]): string | undefined {
		if (text !== this.#shown) this.#back = 0;
		if (this.#back === 0 && text !== '') return undefined;
		const line = by === 1 ? text.slice(0, caret) : text.slice(caret);
		const back = this.#back + by;
		if (line.includes('\n') || back < 0 || back > sent.length) return undefined;
		this.#back = back;
		return (this.#shown = back === 0 ? '' : sent[sent.length - back]!);
	}
}
