import type { ImportReport, KernelError, Keys, PassphraseInput } from '../api.gen';
import { Failure } from '../transport';
import { iso } from './data';

/** FakeKeys keeps one key in the encrypted file, and its passphrase once one is set. */
export class FakeKeys {
	now: Keys = {
		list: [{ name: 'work', host: 'llm.example.org', where: 'file', tail: '4f2A', at: iso(26 * 3_600_000) }],
		protected: false,
		locked: false,
		loose: [],
		ring: true,
	};
	#passphrase = '';

	calls = {
		'infra.keys': () => this.now,
		'infra.unlockKeys': (passphrase: string) => {
			this.#check(passphrase);
			return (this.now = { ...this.now, locked: false });
		},
		'infra.setKeyPassphrase': (p: PassphraseInput) => {
			this.#check(p.current ?? '');
			this.#passphrase = p.next ?? '';
			return (this.now = { ...this.now, locked: false, protected: this.#passphrase !== '' });
		},
		'infra.leaveKeys': () => this.now,
		'infra.importKeys': (): ImportReport => ({ imported: [], files: [], keys: this.now }),
	};

	#check(passphrase: string): void {
		if (passphrase === this.#passphrase) return;
		throw new Failure({
			code: 'denied',
			message: 'That is not the passphrase of the keys. Nothing was changed.',
			hint: 'Try again.',
		} as KernelError);
	}
}
