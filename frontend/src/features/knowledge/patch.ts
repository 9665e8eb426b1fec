/** Change is a piece of a text that is replaced, as the editor takes it. */
export interface Change {
	from: number;
	to: number;
	insert: string;
}

/** How many lines may differ for each piece to be found; above, one piece replaces all between the first and the last. */
const MOST = 2000;

/** changesBetween are the pieces that make one text of another. What stands between them is left alone, and so is a cursor there. */
export function changesBetween(old: string, text: string): Change[] {
	if (old === text) return [];
	const a = lines(old);
	const b = lines(text);
	let head = 0;
	while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
	let tail = 0;
	while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
	const left = a.slice(head, a.length - tail);
	const right = b.slice(head, b.length - tail);
	let at = a.slice(0, head).join('').length;
	const out: Change[] = [];
	for (const [gone, come, same] of pieces(left, right)) {
		const change = trimmed(at, gone.join(''), come.join(''));
		if (change.to > change.from || change.insert) out.push(change);
		at += gone.join('').length + same.join('').length;
	}
	return out;
}

/** trimmed is a piece without what is the same at its ends. */
function trimmed(at: number, gone: string, come: string): Change {
	const least = Math.min(gone.length, come.length);
	let head = 0;
	while (head < least && gone[head] === come[head]) head++;
	let tail = 0;
	while (tail < least - head && gone.at(-1 - tail) === come.at(-1 - tail)) tail++;
	return { from: at + head, to: at + gone.length - tail, insert: come.slice(head, come.length - tail) };
}

/** lines are those of a text, each with its end. */
const lines = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

type Piece = [gone: string[], come: string[], same: string[]];

/** pieces walks the longest common lines: what goes and comes before each run of them. */
function pieces(a: string[], b: string[]): Piece[] {
	const whole: Piece[] = [[a, b, []]];
	if (a.length === 0 || b.length === 0 || a.length * b.length > MOST * MOST) return whole;
	const wide = b.length + 1;
	const long = new Uint32Array((a.length + 1) * wide);
	for (let i = a.length - 1; i >= 0; i--)
		for (let j = b.length - 1; j >= 0; j--)
			long[i * wide + j] =
				a[i] === b[j]
					? long[(i + 1) * wide + j + 1]! + 1
					: Math.max(long[(i + 1) * wide + j]!, long[i * wide + j + 1]!);
	const out: Piece[] = [];
	let piece: Piece = [[], [], []];
	const next = () => {
		if (piece[2].length === 0) return;
		out.push(piece);
		piece = [[], [], []];
	};
	let [i, j] = [0, 0];
	while (i < a.length || j < b.length) {
		if (i < a.length && j < b.length && a[i] === b[j]) {
			piece[2].push(a[i]!);
			i++;
			j++;
		} else if (j >= b.length || (i < a.length && long[(i + 1) * wide + j]! >= long[i * wide + j + 1]!)) {
			next();
			piece[0].push(a[i++]!);
		} else {
			next();
			piece[1].push(b[j++]!);
		}
	}
	out.push(piece);
	return out;
}
