import { WindowFiles } from './files';
import { Ordered } from './ordered';
import { Failure, failureOf, timed, type Event, type Link, type Transport } from './transport';
import type { KernelError } from './api.gen';

type Bound = Record<string, (argsJSON: string) => Promise<string>>;

interface Wails {
	go?: { desktop?: Record<string, Bound> };
	runtime?: { EventsOn(name: string, fn: (...data: unknown[]) => void): () => void };
}

const page = globalThis as unknown as Wails;

/** inWindow reports whether the page is shown by the desktop window. */
export function inWindow(): boolean {
	return page.go?.desktop !== undefined && page.runtime !== undefined;
}

function upper(word: string): string {
	return word.charAt(0).toUpperCase() + word.slice(1);
}

/** WailsTransport calls the kernel in the window's own process: "agents.submit" is Agents.Submit. */
export class WailsTransport implements Transport {
	readonly files = new WindowFiles((method, args) => this.call(method, args));

	async call(method: string, args: unknown[]): Promise<unknown> {
		const [api = '', name = ''] = method.split('.');
		// The type is called as Go spells it: "a2a" is A2A.
		const bound = Object.entries(page.go?.desktop ?? {}).find(([type]) => type.toLowerCase() === api);
		const fn = bound?.[1][upper(name)];
		if (!fn) {
			throw new Failure({
				code: 'unavailable',
				message: `This window knows no call ${method}.`,
				message_ko: `이 창은 ${method} 호출을 모릅니다.`,
			} as KernelError);
		}
		try {
			const answer = await timed(method, fn(JSON.stringify(args)));
			return answer === '' || answer === undefined ? undefined : JSON.parse(answer);
		} catch (e) {
			throw failureOf(e);
		}
	}

	subscribe(from: number, onevent: (e: Event) => void, onlink: (l: Link) => void): () => void {
		const ordered = new Ordered(onevent, from);
		const on = page.runtime!.EventsOn;
		const offs = [
			on('oxios:event', (text) => ordered.push(JSON.parse(String(text)) as Event)),
			// A deep link is told beside the row: it may come before the kernel has said anything.
			on('oxios:open', (id) => onevent({ seq: 0, time: '', kind: 'open', data: { session_id: String(id) } })),
		];
		onlink('connecting');
		const start = page.go?.desktop?.Events?.Subscribe;
		Promise.resolve(start?.(String(from))).then(
			() => onlink('open'),
			() => onlink('lost'),
		);
		return () => offs.forEach((off) => off());
	}
}
