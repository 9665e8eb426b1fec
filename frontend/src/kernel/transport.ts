import type { KernelError } from './api.gen';
import type { Files } from './files';

/** Event is one thing that happened in the kernel. Seq rises by one an event. */
export interface Event {
	seq: number;
	time: string;
	kind: string;
	run_id?: string;
	session_id?: string;
	data?: unknown;
}

/** Link says how the page stands to the kernel. */
export type Link = 'connecting' | 'open' | 'lost' | 'refused';

/** Transport carries calls to the kernel and events back. */
export interface Transport {
	/** call rejects with a {@link Failure}. Every call ends: the transport times it out. */
	call(method: string, args: unknown[]): Promise<unknown>;
	/** subscribe delivers events after the one numbered from, in order; 0 is from now on. It returns the way to stop. */
	subscribe(from: number, onevent: (e: Event) => void, onlink: (l: Link) => void): () => void;
	/** files carries whole files, which calls are too small for. */
	readonly files: Files;
}

/** Failure is an error of the kernel: what happened, what was kept, what to do. */
export class Failure extends Error {
	code: string;
	hint: string;
	message_ko: string;
	hint_ko: string;

	constructor(e: KernelError) {
		super(e.message);
		this.name = 'Failure';
		this.code = e.code;
		this.hint = e.hint ?? '';
		this.message_ko = e.message_ko ?? '';
		this.hint_ko = e.hint_ko ?? '';
	}
}

/** failureOf makes a Failure of whatever was thrown. Wails hands errors over as JSON text. */
export function failureOf(thrown: unknown): Failure {
	if (thrown instanceof Failure) return thrown;
	const text = thrown instanceof Error ? thrown.message : String(thrown);
	const plain = parse(text);
	if (plain && typeof plain === 'object' && 'message' in plain) {
		const told = plain as Partial<KernelError>;
		return new Failure({
			...told,
			code: String(told.code ?? 'internal'),
			message: String(told.message),
		} as KernelError);
	}
	return new Failure({ code: 'internal', message: text } as KernelError);
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** callTimeout is how long a call may take, in milliseconds. Some wait for a model or a person. */
export function callTimeout(method: string): number | undefined {
	if (
		[
			'agents.wait',
			'exec.shell',
			'exec.structured',
			'exec.script',
			'mcp.call',
			'mcp.appCall',
			'mcp.appRead',
			'mcp.read',
			'mcp.prompt',
			'mcp.signedIn',
		].includes(method)
	)
		return undefined;
	// What servers have for a message is read when it is sent, and they may ask the person first.
	if (method === 'agents.submit') return undefined;
	// As long as the home is large, or the person looks for a place.
	if (method === 'infra.backup' || method === 'infra.restore' || method.startsWith('window.')) return undefined;
	// Other machines send skills as fast as they like: the kernel waits five minutes.
	if (method === 'skills.install' || method === 'skills.update') return 330_000;
	// A file is read when it is attached, and others may be in front of it.
	if (method === 'state.attach' || method === 'state.attachPart') return 300_000;
	if (
		method === 'infra.testProvider' ||
		method === 'mcp.connect' ||
		method === 'mcp.signIn' ||
		method === 'infra.tryProvider' ||
		method === 'infra.discover' ||
		method === 'security.verifyAudit' ||
		method === 'infra.storage' ||
		method === 'infra.clean' ||
		method === 'state.saveSession' ||
		method === 'security.saveAudit'
	)
		return 180_000;
	return 30_000;
}

/** timed rejects when work takes longer than the method may. */
export function timed<T>(method: string, work: Promise<T>): Promise<T> {
	const limit = callTimeout(method);
	if (limit === undefined) return work;
	return new Promise((resolve, reject) => {
		const timer = setTimeout(() => {
			reject(
				new Failure({
					code: 'timeout',
					message: 'Oxios did not answer in time.',
					hint: 'What you wrote is kept. Try again.',
					message_ko: 'Oxios가 제때 답하지 않았습니다.',
					hint_ko: '쓴 글은 남아 있습니다. 다시 시도하세요.',
				} as KernelError),
			);
		}, limit);
		work.then(resolve, reject).finally(() => clearTimeout(timer));
	});
}
