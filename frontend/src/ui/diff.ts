/** A line of a diff as it is shown. */
export interface Line {
	kind: 'add' | 'del' | 'same' | 'gap';
	/** number in the new file, for a removed line in the old one. */
	number?: number;
	text: string;
}

/** How many lines of one diff are drawn. */
export const LIMIT = 2000;

/** parseDiff reads a unified diff. Headers are left out; between two hunks stands a gap. */
export function parseDiff(diff: string): Line[] {
	const out: Line[] = [];
	let before = 0;
	let after = 0;
	let inHunk = false;
	for (const line of diff.replace(/\n$/, '').split('\n')) {
		const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
		if (hunk) {
			before = Number(hunk[1]);
			after = Number(hunk[2]);
			if (inHunk) out.push({ kind: 'gap', text: '' });
			inHunk = true;
		} else if (!inHunk || line.startsWith('\\')) {
			continue;
		} else if (line.startsWith('+')) {
			out.push({ kind: 'add', number: after++, text: line.slice(1) });
		} else if (line.startsWith('-')) {
			out.push({ kind: 'del', number: before++, text: line.slice(1) });
		} else {
			out.push({ kind: 'same', number: after++, text: line.slice(1) });
			before++;
		}
	}
	return out;
}
