import type { RunView, Session, UndoInput, UndoPlan, UndoQuery } from '../api.gen';
import type { Event, Link, Transport } from '../transport';
import { FakeAgents } from './agents';
import { FakeApprovals } from './approvals';
import { Desk } from './attach';
import { FakeAudit } from './audit';
import { no, type Core } from './core';
import { costCalls } from './costs';
import { iso, makeWorld, type Speech, type World } from './data';
import { folderCalls } from './folders';
import { FakeInbox } from './inbox';
import { FakeKeys } from './keys';
import { FakeMachine } from './machine';
import { embedderCalls } from './embedder';
import { memoryFileCalls } from './memories';
import { FakeMemory } from './memory';
import { FakeRuns } from './runs';
import { setScene } from './scenes';
import { FakeSessions } from './sessions';
import { FakeSpaces } from './spaces';
import { FakeFiles } from './storage';
import { plant } from './tree';
import { FakeUndo } from './undo';
import { pageCalls, searchCalls } from './pages';
import { FakePlace } from './place';
import { FakeServers } from './servers';
import { FakeClients } from './clients';
import { FakeSkills } from './skills';
import { FakeVault } from './vault';
import { embeddedScene } from './vaultfiles';

const copy = <T>(v: T): T => (v === undefined ? v : (JSON.parse(JSON.stringify(v)) as T));

interface Options {
	speech?: Speech;
	/** first is a machine on which Oxios never ran. */
	first?: boolean;
	/** pace is how long a piece of a scripted answer takes, in milliseconds. */
	pace?: number;
}

/**
 * FakeTransport is a kernel in the page: believable data, scripted answers, requests and errors,
 * so that the whole interface runs without Go. The words of a message choose the script:
 * "push" asks first, "fail" fails, "cut" is cut off, "long" speaks for long.
 */
export class FakeTransport implements Transport, Core {
	readonly world: World;
	readonly files = new FakeFiles();
	readonly calls: { method: string; args: unknown[] }[] = [];
	readonly desk = new Desk(() => this.world.notes);
	readonly vault = new FakeVault(this);
	#pace: number;
	#readers = new Set<(e: Event) => void>();
	#seq = 100;
	#undo = new FakeUndo();
	#machine = new FakeMachine(this);
	/** areas answer the calls. They are asked anew each time: a test may put its own answer in the place of one. */
	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	#areas: { calls: Record<string, (...args: any[]) => unknown> }[];

	constructor(o: Options = {}) {
		this.world = makeWorld(o.speech ?? 'en', o.first ?? false);
		plant(this.world);
		this.#pace = o.pace ?? 18;
		this.files.text = (sid) => `# ${this.session(sid).title}`;
		const spaces = new FakeSpaces(this);
		const runs = new FakeRuns(this, this.desk, spaces);
		const inbox = new FakeInbox(this.world, (kind, data) => this.emit(kind, data));
		const agents = new FakeAgents(
			this.world,
			(kind, data, of) => this.emit(kind, data, of),
			(r) => runs.kill(r),
		);
		this.#areas = [
			new FakeSessions(this, runs),
			runs,
			new FakeApprovals(this, runs),
			this.#machine,
			new FakeKeys(),
			{ calls: folderCalls(this.world) },
			{ calls: costCalls(this) },
			{
				calls: {
					'agents.undoPreview': (q: UndoQuery) => this.#undo.preview(this.world, q),
					'agents.undo': (q: UndoInput) => this.#goBack(q, false),
					'agents.stopUndo': () => undefined,
					'agents.redo': (q: UndoInput) => this.#goBack(q, true),
				},
			},
			this.desk,
			this.vault,
			new FakePlace(this),
			{ calls: pageCalls(this, this.vault) },
			{ calls: searchCalls(this) },
			{ calls: memoryFileCalls(this) },
			inbox,
			agents,
			new FakeMemory(this),
			new FakeServers(this),
			new FakeSkills(this),
			new FakeClients(this),
			{ calls: embedderCalls(this) },
			spaces,
			new FakeAudit(this.world),
		];
		this.#count();
	}

	static forPage(q: URLSearchParams): FakeTransport {
		const scene = q.get('scene') ?? '';
		const speech = q.get('lang') === 'ko' ? 'ko' : 'en';
		const fake = new FakeTransport({ speech, first: scene === 'first' || scene === 'bare' });
		fake.#machine.bare = scene === 'bare';
		fake.vault.rival = scene === 'clash';
		fake.vault.busy = scene === 'edited';
		if (scene === 'embedded') embeddedScene(fake.world, fake.vault.files, speech === 'ko');
		const theme = q.get('theme');
		if (theme) fake.world.config.values.theme = theme;
		setScene(fake.world, fake.desk, scene, speech);
		plant(fake.world);
		fake.#count();
		return fake;
	}

	async call(method: string, args: unknown[]): Promise<unknown> {
		this.calls.push({ method, args });
		const fn = this.#areas.find((a) => a.calls[method])?.calls[method];
		if (!fn) throw no('not_found', `The scripted kernel knows no call ${method}.`);
		await Promise.resolve();
		return copy(await fn(...args));
	}

	subscribe(_from: number, onevent: (e: Event) => void, onlink: (l: Link) => void): () => void {
		this.#readers.add(onevent);
		onlink('open');
		return () => this.#readers.delete(onevent);
	}

	/** emit says something to everyone who listens. */
	emit(kind: string, data: unknown, of: { run_id?: string; session_id?: string } = {}): void {
		const e = { seq: ++this.#seq, time: iso(), kind, data: copy(data), ...of };
		for (const fn of this.#readers) fn(e);
	}

	#count(): void {
		const w = this.world;
		w.status.running = w.runs.filter((r) => r.run.state === 'running').length;
		w.status.waiting = w.approvals.filter((a) => a.state === 'pending').length;
	}

	announce(): void {
		this.#count();
		this.emit('status', this.world.status);
	}

	session(sid: string): Session {
		const s = this.world.sessions.find((x) => x.id === sid);
		if (!s) throw no('not_found', 'There is no such conversation.', 'It may have been deleted.');
		return s;
	}

	run(rid: string): RunView {
		const r = this.world.runs.find((x) => x.run.id === rid);
		if (!r) throw no('not_found', 'There is no such run.');
		return r;
	}

	rest(pieces = 1): Promise<void> {
		return new Promise((done) => setTimeout(done, this.#pace * pieces));
	}

	#goBack(q: UndoInput, redo: boolean): UndoPlan {
		const plan = this.#undo.apply(this.world, q, redo);
		const v = this.world.runs.find((r) => r.run.id === q.run_id);
		if (v) this.emit('undo', v.undo, { run_id: q.run_id, session_id: v.run.session_id });
		return plan;
	}
}
