import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeKernel, type StepView } from '../../kernel/api.gen';
import { makeMessage, makeRun, makeStep } from '../../kernel/fake/data';
import { FakeTransport } from '../../kernel/fake/transport';
import { stepState } from '../../kernel/steps';
import { Live } from '../../kernel/live.svelte';
import { STILL } from '../../ui/still.svelte';
import { standing } from '../../ui/still.fake';
import { Card } from './approval.svelte';
import { Composer, MOST } from './composer.svelte';
import { Conversation } from './conversation.svelte';
import { draft } from './drafts';
import { endingOf, fold, piecesOf } from './timeline';

const stops: (() => void)[] = [];
afterEach(() => {
	stops.splice(0).forEach((stop) => stop());
	localStorage.clear();
});

async function setup() {
	const fake = new FakeTransport({ pace: 0 });
	const kernel = makeKernel(fake);
	const live = new Live(kernel, fake);
	stops.push(live.start());
	await vi.waitFor(() => expect(live.models.loaded && live.sessions.loaded).toBe(true));
	const open = async (id: string) => {
		const c = new Conversation(kernel, id);
		stops.push(
			live.onevent((e) => c.receive(e)),
			() => c.close(),
		);
		await c.load();
		return c;
	};
	return { fake, kernel, live, open };
}

const texts = (c: Conversation) =>
	c.turns.flatMap((t) => piecesOf(t)).flatMap((p) => (p.kind === 'said' || p.kind === 'person' ? [p.text] : []));

describe('a conversation', () => {
	it('follows a run from the message to the answer', async () => {
		const { open } = await setup();
		const c = await open('s-parser');
		await c.send({ text: 'Look around.' });
		await vi.waitFor(() => expect(c.runs.at(-1)?.run.state).toBe('done'));
		const turn = c.turns.at(-1)!;
		expect(piecesOf(turn).map((p) => p.kind)).toEqual(['person', 'thought', 'said', 'steps', 'said']);
		expect(c.talks).toEqual({});
	});

	it('shows what a message repeats of its steps once', async () => {
		const { open } = await setup();
		const c = await open('s-parser');
		expect(texts(c).filter((t) => t.includes('read the clock twice'))).toHaveLength(1);
	});

	it('applies what came while it was read', async () => {
		const { fake, kernel, live } = await setup();
		const c = new Conversation(kernel, 's-parser');
		stops.push(live.onevent((e) => c.receive(e)));
		const reading = c.load();
		fake.emit('queue', [{ id: 'q', session_id: 's-parser', text: 'late', created_at: '' }], { session_id: 's-parser' });
		await reading;
		expect(c.queued.map((q) => q.text)).toEqual(['late']);
	});

	it('is read once at a time, however many events ask for it', async () => {
		const { kernel, live } = await setup();
		let [under, most, readings] = [0, 0, 0];
		const page = kernel.state.sessionPage.bind(kernel.state);
		kernel.state.sessionPage = async (...asked) => {
			readings++;
			most = Math.max(most, ++under);
			await new Promise((done) => setTimeout(done, 20));
			return page(...asked).finally(() => under--);
		};
		const c = new Conversation(kernel, 's-parser');
		stops.push(
			live.onevent((e) => c.receive(e)),
			() => c.close(),
		);
		const asked = Array.from({ length: 50 }, () => c.load());
		await Promise.all(asked);
		expect([most, readings]).toEqual([1, 2]);
	});

	it('waits for the run that its head names, and reads the session when that does not come', async () => {
		vi.useFakeTimers();
		onTestFinished(() => void vi.useRealTimers());
		const { fake, kernel, open } = await setup();
		const c = await open('s-parser');
		const read = vi.spyOn(kernel.state, 'sessionPage');
		const of = { session_id: 's-parser' };
		const head = c.session!.head_id;
		for (let i = 0; i < 100; i++) {
			const after = c.runs.at(-1)!.run.id;
			fake.emit('session', { ...c.session, head_id: `burst-${i}` }, of);
			fake.emit(
				'run.created',
				makeRun({ id: `burst-${i}`, session_id: 's-parser', after_id: after, text: 'One more' }),
				of,
			);
		}
		await vi.advanceTimersByTimeAsync(2000);
		expect(c.runs.at(-1)?.run.id).toBe('burst-99');
		expect(read).not.toHaveBeenCalled();
		fake.emit('session', { ...c.session, head_id: head }, of);
		await vi.advanceTimersByTimeAsync(2000);
		expect(read).toHaveBeenCalledTimes(1);
	});

	/** long makes a conversation of many runs, r-0 the first, and opens it. */
	async function long(runs: number) {
		const { fake, open } = await setup();
		const s = fake.world.sessions[0]!;
		for (let i = 0; i < runs; i++) {
			const run = makeRun({ id: `r-${i}`, session_id: 's-long', after_id: i ? `r-${i - 1}` : '', text: `Turn ${i}` });
			fake.world.runs.push({ run, steps: [], changes: [] });
			fake.world.messages.push(makeMessage({ session_id: 's-long', run_id: run.id, role: 'user', content: run.text }));
		}
		fake.world.sessions.push({ ...s, id: 's-long', head_id: `r-${runs - 1}` });
		return { fake, c: await open('s-long') };
	}
	const ids = (c: Conversation) => [c.runs[0]!.run.id, c.runs.at(-1)!.run.id, c.runs.length, c.earlier];

	it('is read from its end, by pages, as far as it is asked for', async () => {
		const { c } = await long(250);
		expect(ids(c)).toEqual(['r-150', 'r-249', 100, 150]);
		expect(c.messages).toHaveLength(100);
		await c.more();
		expect(ids(c)).toEqual(['r-50', 'r-249', 200, 50]);
		await Promise.all([c.more(), c.more(), c.more()]);
		expect(ids(c)).toEqual(['r-0', 'r-249', 250, 0]);
		await c.more();
		expect(c.turns.map((t) => t.id)).toEqual(Array.from({ length: 250 }, (_, i) => `r-${i}`));
		await c.load();
		expect(c.runs, 'a reading lets go of nothing').toHaveLength(250);
	});

	it('reads all that is earlier for whoever needs it, also while a page is read', async () => {
		const { c } = await long(350);
		await Promise.all([c.more(), c.more(true)]);
		expect(ids(c)).toEqual(['r-0', 'r-349', 350, 0]);
	});

	it('takes what came to an earlier run while its page was read', async () => {
		const { fake, c } = await long(150);
		const reading = c.more();
		fake.emit('undo', { state: 'undone' }, { session_id: 's-long', run_id: 'r-10' });
		await reading;
		expect(c.runs[10]!.undo).toEqual({ state: 'undone' });
	});

	it('lets go of what is far behind its end, unless somebody looks at all of it', async () => {
		const { c } = await long(350);
		await c.more(true);
		c.whole = true;
		expect(c.excess).toBe(0);
		c.whole = false;
		expect(c.excess).toBe(250);
		c.shed();
		expect(ids(c)).toEqual(['r-250', 'r-349', 100, 250]);
		expect(c.messages).toHaveLength(100);
		await c.more();
		expect(ids(c)).toEqual(['r-150', 'r-349', 200, 150]);
	});

	it('reads as far as a run that is looked for', async () => {
		const { fake, c } = await long(350);
		await c.reach('r-17');
		expect(ids(c)).toEqual(['r-17', 'r-349', 333, 17]);
		const beside = makeRun({ id: 'r-beside', session_id: 's-long', after_id: 'r-2', text: 'Beside' });
		fake.world.runs.push({ run: beside, steps: [], changes: [] });
		await c.reach('r-beside');
		expect(ids(c)).toEqual(['r-0', 'r-beside', 4, 0]);
	});

	it('leaves the events of others alone', async () => {
		const { fake, open } = await setup();
		const c = await open('s-parser');
		fake.emit('queue', [{ id: 'q', session_id: 's-tidy', text: 'x', created_at: '' }], { session_id: 's-tidy' });
		expect(c.queued).toEqual([]);
	});

	it('forgets what was said before a retry', async () => {
		const { fake, open } = await setup();
		const c = await open('s-photos');
		const of = { session_id: 's-photos', run_id: 'r-photos' };
		fake.emit('run.text', { text: 'Half an ans' }, of);
		fake.emit('run.retry', { text: 'The connection broke.' }, of);
		fake.emit('run.text', { text: 'Whole.' }, of);
		await vi.waitFor(() => expect(c.talks['r-photos']?.text).toBe('Whole.'));
	});

	it('shows no piece of what a step that was read already holds', async () => {
		const { fake, open } = await setup();
		const c = await open('s-photos');
		const of = { session_id: 's-photos', run_id: 'r-photos' };
		const later = new Date(Date.now() + 60_000).toISOString();
		const whole = makeStep({ run_id: 'r-photos', kind: 'model', text: 'Whole.', seq: 99, closed_at: later });
		c.runs = c.runs.map((v) => (v.run.id === 'r-photos' ? { ...v, steps: [...v.steps, whole] } : v));
		fake.emit('run.text', { text: 'Wh' }, of);
		await new Promise((r) => setTimeout(r, 300));
		expect(c.talks['r-photos']).toBeUndefined();
	});

	it('says which model answers in place of another one, while it does and afterwards', async () => {
		const { fake, open } = await setup();
		const c = await open('s-photos');
		const of = { session_id: 's-photos', run_id: 'r-photos' };
		fake.emit('run.model', { text: 'sonnet does not answer, so qwen answers.' }, of);
		fake.emit('run.text', { text: 'Half an ans' }, of);
		await vi.waitFor(() => expect(c.talks['r-photos']?.stand).toBe('sonnet does not answer, so qwen answers.'));
		const why = { en: 'sonnet does not answer, so qwen answers.', ko: 'sonnet 대신 qwen이 답합니다.' };
		const stand = { provider: 'ollama', model: 'qwen', why };
		fake.emit('step', makeStep({ run_id: 'r-photos', kind: 'model', text: 'Whole.', seq: 99, stand }), of);
		await vi.waitFor(() => expect(c.talks['r-photos']).toBeUndefined());
		const notes = piecesOf(c.turns[0]!).filter((p) => p.kind === 'note');
		expect(notes.map((p) => [p.text, p.ko])).toEqual([[why.en, why.ko]]);
	});

	it('shows what the kernel tells a run as a note, not as a word of the person', async () => {
		const { fake, open } = await setup();
		const c = await open('s-photos');
		const of = { session_id: 's-photos', run_id: 'r-photos' };
		const told = { title: 'Another agent writes here too.', text: '(Oxios: …)', seq: 100_000 };
		fake.emit('step', makeStep({ run_id: 'r-photos', kind: 'note', name: 'oxios', ...told }), of);
		await vi.waitFor(() => expect(piecesOf(c.turns[0]!).at(-1)).toMatchObject({ kind: 'note', text: told.title }));
	});

	it('stops a run and keeps what came', async () => {
		const { open } = await setup();
		const c = await open('s-photos');
		await c.stop();
		expect(c.runs[0]!.run.state).toBe('stopped');
		expect(c.stopping).toBeUndefined();
		expect(endingOf(c.turns[0]!)).toBe('stopped');
		expect(texts(c)).toContain('I read the dates of 604 photos first.');
	});

	it('takes a queued message back', async () => {
		const { open } = await setup();
		const c = await open('s-photos');
		expect(c.queued).toHaveLength(1);
		await c.unqueue(c.queued[0]!.id);
		expect(c.queued).toHaveLength(0);
	});

	it('says that a conversation is gone', async () => {
		const { open } = await setup();
		const c = await open('s-nowhere');
		expect(c.failure?.code).toBe('not_found');
		expect(c.loaded).toBe(true);
	});
});

describe('the timeline', () => {
	const step = (name: string, patch: Partial<StepView> = {}) => makeStep({ run_id: 'r', kind: 'tool', name, ...patch });

	it('folds repeats that ended well, and nothing that needs a look', () => {
		const groups = fold(
			[...Array(4)]
				.map(() => step('read'))
				.concat(step('read', { outcome: 'error' }), step('read'), step('exec'), step('exec'), step('exec')),
		);
		expect(groups.map((g) => g.steps.length)).toEqual([4, 1, 1, 1, 1, 1]);
	});

	it('names the end of a run by what happened', () => {
		const turn = (state: string, status = '', code = '') => ({
			id: 'r',
			messages: [makeMessage({ session_id: 's', run_id: 'r', role: 'assistant', content: 'x', status })],
			view: {
				run: makeRun({
					id: 'r',
					session_id: 's',
					text: '',
					state: state as 'done',
					error: code ? { code: code as 'auth', message: '' } : undefined,
				}),
				steps: [],
				changes: [],
			},
		});
		expect(endingOf(turn('done'))).toBeUndefined();
		expect(endingOf(turn('done', 'forced'))).toBe('forced');
		expect(endingOf(turn('failed', 'cut'))).toBe('cut');
		expect(endingOf(turn('failed', '', 'stream_cut'))).toBe('cut');
		expect(endingOf(turn('failed', '', 'auth'))).toBe('failed');
		expect(endingOf(turn('interrupted'))).toBe('interrupted');
	});

	it('shows a denied step as denied and an unclear one as unclear', () => {
		expect(stepState(step('exec', { outcome: 'denied' }))).toBe('denied');
		expect(stepState(step('exec', { outcome: 'unknown' }))).toBe('partly');
		expect(stepState(step('exec', { state: 'waiting', outcome: '' }))).toBe('waiting');
	});
});

describe('the composer', () => {
	it('keeps a draft for each conversation until it is sent', async () => {
		const { live } = await setup();
		const c = new Composer(live, 's-parser');
		c.write('half a thought');
		expect(new Composer(live, 's-parser').text).toBe('half a thought');
		expect(new Composer(live, 's-tidy').text).toBe('');
		await c.send();
		expect(draft('s-parser')).toBe('');
	});

	it('refuses a message over 1 MB and keeps its text', async () => {
		const { fake, live } = await setup();
		const c = new Composer(live, 's-parser');
		c.write('가'.repeat(MOST / 3 + 10));
		expect(c.tooLarge).toBe(true);
		expect(await c.send()).toBeUndefined();
		expect(c.text.length).toBeGreaterThan(MOST / 3);
		expect(fake.calls.some((x) => x.method === 'agents.submit')).toBe(false);
	});

	it('takes no paste that would make the message too large, and says its size until something else is written', async () => {
		const { live } = await setup();
		const c = new Composer(live, 's-parser');
		c.write('half a thought');
		expect(c.takes(' and its end')).toBe(true);
		expect(c.takes('x'.repeat(MOST))).toBe(false);
		expect(c.refused).toBe(MOST);
		expect(c.text).toBe('half a thought');
		c.write('half a thought, whole');
		expect(c.refused).toBe(0);
	});

	it('keeps the text when the kernel refuses it', async () => {
		const { fake, live } = await setup();
		const c = new Composer(live, 's-nowhere');
		c.write('hello');
		await c.send();
		expect(c.failure?.code).toBe('not_found');
		expect(c.text).toBe('hello');
		expect(fake.calls.at(-1)?.method).toBe('agents.submit');
	});

	it('begins a conversation where its chips say', async () => {
		const { fake, live } = await setup();
		const c = new Composer(live, '');
		await c.useFolder('/home/minji/src');
		await c.useMode('ask');
		c.write('go');
		await c.send();
		expect(fake.calls.find((x) => x.method === 'agents.submit')?.args[0]).toMatchObject({
			folder: '/home/minji/src',
			mode: 'ask',
			text: 'go',
		});
	});
});

describe('an approval card', () => {
	async function card(session: string, index = 0) {
		const { live, fake } = await setup();
		await vi.waitFor(() => expect(live.approvals.pending.length).toBeGreaterThan(0));
		const { still, wait } = standing();
		const c = new Card(live.approvals, live.approvals.of(session)[index]!, still);
		const end = still.watch(document.createElement('div'));
		onTestFinished(end);
		return { c, fake, live, later: wait };
	}

	it('is shut until it has stood still', async () => {
		const { c, later } = await card('s-tidy');
		expect(c.still.open).toBe(false);
		later(STILL - 1);
		expect(c.still.open).toBe(false);
		later(1);
		expect(c.still.open).toBe(true);
		c.still.moved();
		expect(c.still.open).toBe(false);
	});

	it('opens Approve at the end of a long command', async () => {
		const { c, live } = await card('s-year');
		expect(c.long).toBe(true);
		await c.approve('once');
		expect(live.approvals.of('s-year')).toHaveLength(3);
		c.read = true;
		await c.approve('once');
		expect(live.approvals.of('s-year')).toHaveLength(2);
	});

	it('asks again when the request changed', async () => {
		const { c, later } = await card('s-year');
		c.read = true;
		later(STILL);
		c.show({ ...c.approval, request: { ...c.approval.request, hash: 'new' } });
		expect([c.changed, c.read, c.still.open]).toEqual([true, false, false]);
	});

	it('makes Deny primary for what leaves the machine', async () => {
		expect((await card('s-year', 1)).c.denyFirst).toBe(true);
		expect((await card('s-tidy')).c.denyFirst).toBe(false);
	});

	it('sends the comment with a no, and an empty one too', async () => {
		const { c, fake } = await card('s-tidy');
		c.comment = '  keep them  ';
		await c.deny();
		expect(fake.calls.find((x) => x.method === 'security.deny')?.args).toEqual([c.approval.id, 'keep them']);
	});
});
