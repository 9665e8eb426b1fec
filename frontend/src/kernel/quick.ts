// The quick prompt's own window: what its page asks of it. In a browser none of it is there.
import { callWindow } from './window';

interface Page {
	go?: { desktop?: { Quick?: unknown } };
	runtime?: { EventsOn?(name: string, fn: (...data: unknown[]) => void): () => void };
}

const page = globalThis as unknown as Page;

/** inQuick reports whether the page is shown by the quick prompt's window. */
export function inQuick(): boolean {
	return page.go?.desktop?.Quick !== undefined;
}

/** onshown calls fn when the window is shown or hidden, until the returned function is called. */
export function onshown(fn: (shown: boolean) => void): () => void {
	return page.runtime?.EventsOn?.('oxios:quick', (shown) => fn(shown === true)) ?? (() => {});
}

/** ready says that the page can be seen. It returns whether corners and a shadow can be drawn around it. */
export async function ready(): Promise<boolean> {
	return (await callWindow('Quick', 'Ready', [])) === true;
}

/** resize makes the window as high as the page, in pixels. */
export function resize(height: number): void {
	void callWindow('Quick', 'Resize', [Math.ceil(height)]).catch(() => {});
}

export function hide(): void {
	void callWindow('Quick', 'Hide', []).catch(() => {});
}

/** open shows a conversation in the main window, "" the window as it is, and hides this one. */
export async function open(sessionID: string): Promise<void> {
	await callWindow('Quick', 'Open', [sessionID]);
}
