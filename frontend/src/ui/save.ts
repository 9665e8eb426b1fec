/** saveText hands a text over as a file: to the downloads of the browser, or of the window. */
export function saveText(name: string, text: string): void {
	const url = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
	const link = document.createElement('a');
	link.href = url;
	// What no file system takes, and what would hide the file.
	link.download = name.replace(/[\\/:*?"<>|\p{Cc}]+/gu, ' ').replace(/^[.\s]+/, '') || 'oxios.txt';
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
