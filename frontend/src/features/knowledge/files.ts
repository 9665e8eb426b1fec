import type { Kernel, VaultChange } from '../../kernel/api.gen';
import { download } from '../../kernel/files';
import { bytesOf, inParts, PART } from '../../kernel/handed';
import { inWindow, openPath } from '../../kernel/window';

/** How much of a file of the vault is asked for at once, in bytes: what the kernel gives. */
const READ = 4 << 20;

/** LARGEST is the size of the largest file that is read here, in bytes: what the kernel attaches. */
export const LARGEST = 50 << 20;

/** Given is a file that a person pastes or drops: the window hands over paths. */
export type Given = File | string;

/** stampOf is a moment as the names of pasted pictures have it: YYYYMMDDHHMMSS. */
export function stampOf(d: Date): string {
	const two = (n: number) => String(n).padStart(2, '0');
	const day = `${d.getFullYear()}${two(d.getMonth() + 1)}${two(d.getDate())}`;
	return `${day}${two(d.getHours())}${two(d.getMinutes())}${two(d.getSeconds())}`;
}

/** nameOfGiven is what a file is to be called. The clipboard gives pictures without a name of their own one of these. */
export function nameOfGiven(given: Given, now: Date, pasted: (stamp: string) => string): string {
	if (typeof given === 'string') return given.split(/[\\/]/).at(-1) || given;
	if (!/^(?:(?:image|clipboard|unknown)\.\w+)?$/i.test(given.name) || !given.type.startsWith('image/'))
		return given.name;
	const kind = given.type.slice('image/'.length).replace('jpeg', 'jpg').replace('svg+xml', 'svg');
	return `${pasted(stampOf(now))}.${kind}`;
}

/** attach puts a file into the vault. */
export async function attach(kernel: Kernel, given: Given, name: string): Promise<VaultChange> {
	if (typeof given === 'string') return kernel.knowledge.attach({ path: given });
	let data = '';
	let upload = '';
	await inParts(given, async (at, part) => {
		if (given.size <= PART) data = part;
		else upload = await kernel.knowledge.attachPart(upload, name, given.size, at, part);
	});
	return kernel.knowledge.attach(upload ? { name, upload } : { name, data });
}

/** read returns a whole file of the vault. */
export async function read(kernel: Kernel, path: string): Promise<Blob> {
	const parts: Uint8Array<ArrayBuffer>[] = [];
	for (let at = 0; ;) {
		const f = await kernel.knowledge.file(path, at, READ);
		const part = bytesOf(f.data ?? '');
		parts.push(part);
		at += part.length;
		if (part.length === 0 || at >= f.size) return new Blob(parts, { type: f.mime ?? '' });
	}
}

/** openElsewhere opens a file of the vault in another program; a browser downloads it. */
export async function openElsewhere(kernel: Kernel, path: string): Promise<void> {
	if (inWindow()) await openPath((await kernel.knowledge.file(path, 0, 0)).disk);
	else download(await read(kernel, path), path.split('/').at(-1)!);
}
