import { SocketTransport, signIn } from './socket';
import type { Transport } from './transport';
import { WailsTransport, inWindow } from './wails';

/** connect finds the kernel that belongs to this page, or undefined when the page is not signed in. */
export async function connect(): Promise<Transport | undefined> {
	if (inWindow()) return new WailsTransport();
	if (__FAKE__ && new URLSearchParams(location.search).has('fake')) {
		const { FakeTransport } = await import('./fake/transport');
		return FakeTransport.forPage(new URLSearchParams(location.search));
	}
	const secret = await signIn(location, localStorage, history);
	return secret ? new SocketTransport(secret, location) : undefined;
}
