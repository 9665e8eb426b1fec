/** copyText puts text on the clipboard and reports whether that worked. */
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		// The window asks its own program, which needs no click just before.
		const wails = (globalThis as { runtime?: { ClipboardSetText?(text: string): Promise<boolean> } }).runtime;
		if (wails?.ClipboardSetText) return wails.ClipboardSetText(text);
		// Without permission, or in a page that is not secure, the old way still works.
		const area = document.createElement('textarea');
		area.value = text;
		area.style.position = 'fixed';
		area.style.opacity = '0';
		document.body.append(area);
		area.select();
		const ok = document.execCommand('copy');
		area.remove();
		return ok;
	}
}

/** openOutside shows an address in the person's browser. Only addresses of the web and of mail are opened. */
export function openOutside(url: string): void {
	if (!/^(https?|mailto):/i.test(url)) return;
	const wails = (globalThis as { runtime?: { BrowserOpenURL?(url: string): void } }).runtime;
	if (wails?.BrowserOpenURL) wails.BrowserOpenURL(url);
	else window.open(url, '_blank', 'noopener,noreferrer');
}
