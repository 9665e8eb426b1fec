import type { Kernel } from './api.gen';

/**
 * Kept is what the page remembers on this machine: widths of panes, what was chosen last. The kernel holds it, because the
 * page of `oxios serve` has another address, and so another store of the browser, after every start.
 */
export class Kept {
	#kernel: Kernel;
	#values = $state.raw<Record<string, string>>({});

	constructor(kernel: Kernel) {
		this.#kernel = kernel;
	}

	/** load reads what is kept. Without it the page has its defaults, so a failure is no matter. */
	async load(): Promise<void> {
		try {
			this.#values = await this.#kernel.infra.kept();
		} catch {
			this.#values = {};
		}
	}

	get(key: string): string {
		return this.#values[key] ?? '';
	}

	/** set keeps a value; "" forgets it. It is there for this page at once. */
	set(key: string, value: string): void {
		this.#values = { ...this.#values, [key]: value };
		void this.#kernel.infra.keep(key, value).catch(() => {});
	}

	/** list returns a kept list of texts, [] when there is none. */
	list(key: string): string[] {
		try {
			const list: unknown = JSON.parse(this.get(key) || '[]');
			return Array.isArray(list) ? list.filter((x) => typeof x === 'string') : [];
		} catch {
			return [];
		}
	}

	/** push puts a text first in a kept list, once, and forgets what then stands behind the most. */
	push(key: string, value: string, most: number): void {
		const list = [value, ...this.list(key).filter((v) => v !== value)].slice(0, most);
		this.set(key, JSON.stringify(list));
	}

	/** folders are those that conversations worked in last, the newest first. */
	get folders(): string[] {
		return this.list('folders');
	}

	usedFolder(path: string): void {
		this.push('folders', path, 8);
	}

	forgetFolder(path: string): void {
		this.set('folders', JSON.stringify(this.folders.filter((p) => p !== path)));
	}
}
