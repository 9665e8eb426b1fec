// What a person hands over: files that are pasted or dropped, and how their bytes go to the kernel.

/** How much of a file is sent at once, in bytes. */
export const PART = 1 << 20;

/** inParts has a file sent piece by piece, in order, until send returns false. It rejects with a DOMException when the file cannot be read. */
export async function inParts(
	file: File,
	send: (offset: number, data: string, size: number) => Promise<boolean | void>,
): Promise<void> {
	for (let at = 0; at < file.size; at += PART) {
		const part = file.slice(at, at + PART);
		if ((await send(at, await base64(part), part.size)) === false) return;
	}
}

/** base64 rejects with a DOMException when the file cannot be read. */
function base64(part: Blob): Promise<string> {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
		reader.onerror = () => reject(reader.error ?? new DOMException('unreadable'));
		reader.readAsDataURL(part);
	});
}

/** bytesOf is what a call of the kernel gave in base64. */
export const bytesOf = (data: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(data), (c) => c.charCodeAt(0));

/** pastedFiles returns the files that a paste brings. Office programs put a picture of their text beside it: that is text. */
export function pastedFiles(data: DataTransfer | null): File[] {
	const files = [...(data?.files ?? [])];
	const drawn = files.every((f) => f.type.startsWith('image/') && f.name === 'image.png');
	return drawn && data?.getData('text/plain') ? [] : files;
}
