/** visible writes characters that nobody sees as their numbers; lines keeps the ends of lines. */
export function visible(text: string, lines = false): string {
	return text.replace(
		/[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu,
		(c) => (c === '\n' ? (lines ? c : ' ') : `⟨U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`),
	);
}
