/** Words are what stands for things that nobody wants read out character by character. */
interface Words {
	code: string;
	table: string;
}

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });

/** Ends a sentence: its mark with what closes behind it, and then a space; or a line that ends. */
const END = /[.!?。！？…]["'”’)\]*_`]*\s|\n/u;

/**
 * Speaker turns text that grows by tokens into whole sentences for a screen reader, each once. Code and tables are named,
 * not read out.
 */
export class Speaker {
	#said = 0;
	#fence = '';
	#table = false;

	/** next returns the sentences that were completed since the last call, in the form in which they are spoken. */
	next(text: string, words: Words): string[] {
		const end = lastEnd(text, this.#said);
		return end < 0 ? [] : this.#speak(text, end, words);
	}

	/** rest returns what is left when nothing more comes. */
	rest(text: string, words: Words): string[] {
		return this.#speak(text, text.length, words);
	}

	#speak(text: string, to: number, words: Words): string[] {
		const out: string[] = [];
		let plain = '';
		const flush = () => {
			for (const { segment } of sentences.segment(plain)) if (segment.trim()) out.push(segment.trim());
			plain = '';
		};
		for (const line of text.slice(this.#said, to).split('\n')) {
			const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
			if (this.#fence) {
				if (fence?.startsWith(this.#fence)) this.#fence = '';
			} else if (fence) {
				flush();
				out.push(words.code);
				this.#fence = fence;
			} else if (/^\s*\|.*\|\s*$/.test(line)) {
				flush();
				if (!this.#table) out.push(words.table);
				this.#table = true;
			} else {
				if (line.trim()) this.#table = false;
				plain += `${spoken(line)}\n`;
			}
		}
		flush();
		this.#said = Math.max(this.#said, to);
		return out;
	}
}

/** lastEnd is where the last whole sentence behind from ends, -1 without one. */
function lastEnd(text: string, from: number): number {
	let at = -1;
	for (let i = from; i < text.length;) {
		const found = END.exec(text.slice(i));
		if (!found) break;
		i += found.index + found[0].length;
		at = i;
	}
	return at;
}

/** spoken is a line of markdown without its marks. */
function spoken(line: string): string {
	return line
		.replace(/^\s*(#{1,6}|>|[-*+]|\d+[.)])\s+/, '')
		.replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
		.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
		.replace(/(\*\*|__|~~|`)/g, '')
		.replace(/(^|\s)[*_](\S)/g, '$1$2')
		.replace(/(\S)[*_](\s|$|[.,;:!?])/g, '$1$2');
}
