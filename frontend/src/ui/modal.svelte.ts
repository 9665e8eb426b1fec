/** modals are the dialogs that are open, one over the other: outside of the top one nothing can be used. */
class Modals {
	list = $state.raw<HTMLDialogElement[]>([]);
	top = $derived(this.list.at(-1));
}
export const modals = new Modals();

/**
 * modal shows a dialog over everything until the returned function is called, which gives the focus back to where it was.
 * A dialog that is taken out of the page does not do that by itself.
 */
export function modal(dialog: HTMLDialogElement): () => void {
	const before = document.activeElement;
	dialog.showModal();
	modals.list = [...modals.list, dialog];
	return () => {
		modals.list = modals.list.filter((d) => d !== dialog);
		dialog.close();
		if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
	};
}
