/** visible writes characters that nobody sees as their numbers. */
export function visible(text: string): string {
	return text.replace(
		/[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu,
		(c) => (c === '\n' ? ' ' : `⟨U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`),
	);
}
