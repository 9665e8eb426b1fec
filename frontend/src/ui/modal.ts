/**
 * modal shows a dialog over everything until the returned function is called, which gives the focus back to where it was.
 * A dialog that is taken out of the page does not do that by itself.
 */
export function modal(dialog: HTMLDialogElement): () => void {
	const before = document.activeElement;
	dialog.showModal();
	return () => {
		dialog.close();
		if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
	};
}
