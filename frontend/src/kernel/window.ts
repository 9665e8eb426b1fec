// What the desktop's window does for the page beside the kernel. In a browser none of it is there.
import { bytesOf } from './handed';
import { failureOf } from './transport';
import { inWindow } from './wails';

export { inWindow };

interface Window {
	go?: { desktop?: Record<string, Record<string, (argsJSON: string) => Promise<string>> | undefined> };
	runtime?: { OnFileDrop?(fn: (x: number, y: number, paths: string[]) => void, useDropTarget: boolean): void };
}

const page = globalThis as unknown as Window;

/** callWindow calls what a window binds. It returns undefined where the page is in no such window. */
export async function callWindow(of: 'Window' | 'Quick', name: string, args: unknown[]): Promise<unknown> {
	try {
		const answer = await page.go?.desktop?.[of]?.[name]?.(JSON.stringify(args));
		return answer ? JSON.parse(answer) : undefined;
	} catch (e) {
		throw failureOf(e);
	}
}

const call = (name: string, args: unknown[]) => callWindow('Window', name, args);

/** showQuick shows the quick prompt. */
export async function showQuick(): Promise<void> {
	await call('QuickPrompt', []);
}

/** pickFiles shows the system's dialog and returns the paths that were chosen. */
export async function pickFiles(title: string): Promise<string[]> {
	return ((await call('PickFiles', [title])) as string[] | undefined) ?? [];
}

/** pickFolder shows the system's dialog and returns the path that was chosen, or "". */
export async function pickFolder(title: string): Promise<string> {
	return ((await call('PickFolder', [title])) as string | undefined) ?? '';
}

/** openPath opens a file with the program that the system has for it; programs themselves are refused. */
export async function openPath(path: string): Promise<void> {
	await call('OpenPath', [path]);
}

/** showInFolder shows the folder that a file lies in. */
export async function showInFolder(path: string): Promise<void> {
	await call('ShowInFolder', [path]);
}

/** clipboardPicture returns the picture on the clipboard, which WebKitGTK keeps from its pages. */
export async function clipboardPicture(): Promise<File | undefined> {
	const data = (await call('ClipboardPicture', [])) as string | undefined;
	if (!data) return undefined;
	return new File([bytesOf(data)], 'clipboard.png', { type: 'image/png' });
}

/**
 * holdsFiles reports whether files are dragged, as far as that is told before they are dropped: WebKitGTK names their
 * addresses only, as it does for links. A page that does not take them is left for the first file.
 */
export function holdsFiles(data: DataTransfer | null): boolean {
	const types = data?.types ?? [];
	return types.includes('Files') || (inWindow() && types.includes('text/uri-list'));
}

/** Dropped takes the paths of files that were dropped at a place of the window, or returns false. */
type Dropped = (paths: string[], x: number, y: number) => boolean | void;
let takers: Dropped[] | undefined;

/** ondropped calls fn with files that are dropped on the window, unless a later one takes them, until the returned function. */
export function ondropped(fn: Dropped): () => void {
	if (!takers) {
		takers = [];
		// It can be registered once only, and Windows tells no paths without it.
		page.runtime?.OnFileDrop?.((x, y, paths) => void takers?.findLast((t) => t(paths, x, y) !== false), false);
	}
	takers.push(fn);
	return () => (takers = takers?.filter((t) => t !== fn));
}
