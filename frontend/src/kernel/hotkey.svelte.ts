import type { Event } from './transport';
import { callWindow } from './window';

/** What is true of the keys that open the quick prompt. */
export interface HotkeyView {
	state: 'off' | 'asking' | 'works' | 'taken' | 'bind' | 'none';
	/** keys as a person reads them. */
	keys: string;
	/** command is what can be bound to keys in the settings of the desktop. */
	command: string;
}

/** Hotkey is the window's word on those keys. In a browser there is none. */
export class Hotkey {
	now = $state.raw<HotkeyView>();

	/** keys are those that work, "" without any. */
	get keys(): string {
		return this.now?.state === 'works' ? this.now.keys : '';
	}

	async load(): Promise<void> {
		try {
			this.now = (await callWindow('Window', 'Hotkey', [])) as HotkeyView | undefined;
		} catch {
			this.now = undefined;
		}
	}

	receive(e: Event): void {
		if (e.kind === 'hotkey') this.now = e.data as HotkeyView;
	}
}
