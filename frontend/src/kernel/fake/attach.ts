import type { Attachment, AttachInput, KernelError, Message } from '../api.gen';
import { Failure } from '../transport';
import { id, makeMessage, makeRun, makeSession, makeStep, type Speech, type World } from './data';

const no = (code: string, message: string, hint = '') => new Failure({ code, message, hint } as KernelError);

/** A picture of the sea. */
/** SEA is a picture. */
export const SEA = `<svg xmlns="http://www.w3.org/2000/svg" width="2048" height="1536"><rect width="2048" height="900" fill="#9cc7dd"/>
<rect y="900" width="2048" height="636" fill="#2f6f8f"/><circle cx="1500" cy="420" r="150" fill="#fdf3c7"/></svg>`;

/** Desk keeps what is attached, as the kernel would; names say what a file is. */
export class Desk {
	#all = new Map<string, { got: Attachment; text: string }>();
	#coming = new Map<string, { name: string; size: number }>();

	#notes: () => Record<string, string>;

	/** notes are the texts of the vault, by their paths. */
	constructor(notes: () => Record<string, string> = () => ({})) {
		this.#notes = notes;
	}

	/** calls are those of the kernel. */
	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	readonly calls: Record<string, (...args: any[]) => unknown> = {
		'state.attach': (in_: AttachInput) => this.#attach(in_),
		'state.attachPart': (of: string, offset: number, data: string) => {
			const u = this.#coming.get(of);
			if (!u) throw no('not_found', 'This attachment is not there any more.', 'Attach it again.');
			const has = offset + atob(data).length;
			if (has < u.size) return { id: of, name: u.name, size: u.size };
			this.#coming.delete(of);
			return this.#read(u.name, u.size, atob(data));
		},
		'state.detach': (of: string) => void (this.#all.delete(of) || this.#coming.delete(of)),
		'state.attachments': (ids: string[]) => this.of(ids),
		'state.attachmentContent': (of: string) => {
			const a = this.#all.get(of);
			if (!a) throw no('not_found', 'This attachment is not there any more.', 'Attach it again.');
			return a.got.kind === 'image' ? { text: '', data: btoa(SEA), mime: 'image/svg+xml' } : { text: a.text };
		},
	};

	of(ids: string[]): Attachment[] {
		return ids.flatMap((i) => this.#all.get(i)?.got ?? []);
	}

	/** put adds what the scenes show. */
	put(got: Partial<Attachment> & Pick<Attachment, 'kind' | 'name'>, text = ''): Attachment {
		const whole: Attachment = { id: id('attachment'), size: 0, tokens: 0, ...got };
		this.#all.set(whole.id, { got: whole, text });
		return whole;
	}

	#attach(in_: AttachInput): unknown {
		if (in_.note) {
			const vault = in_.note;
			const text = this.#notes()[vault];
			if (text === undefined) throw no('not_found', `There is no note ${vault}.`);
			const name = vault.split('/').pop()!.replace(/\.md$/, '');
			return this.put({ kind: 'text', name, vault, size: text.length, tokens: Math.ceil(text.length / 4) }, text);
		}
		if (in_.resource) {
			const name = in_.name ?? in_.resource.uri ?? '';
			return this.put({ kind: 'resource', name, ...in_.resource });
		}
		if (in_.text !== undefined) {
			const name = in_.text.trim().split('\n', 1)[0]!.slice(0, 120);
			return this.put({ kind: 'paste', name, size: in_.text.length, tokens: Math.ceil(in_.text.length / 4) }, in_.text);
		}
		if (in_.path) {
			const name = in_.path.split('/').pop() || in_.path;
			if (/\.(ssh|oxios)/.test(in_.path))
				throw no(
					'refused',
					`${in_.path} was not attached: agents never read it, because that reads passwords or keys.`,
				);
			return this.put({ kind: /\.\w+$/.test(name) ? 'file' : 'folder', name, path: in_.path });
		}
		const name = in_.name ?? 'file';
		if (!in_.size) throw no('invalid', `${name} is empty. It was not attached.`);
		if (in_.size > 50 << 20)
			throw no(
				'too_large',
				`${name} has ${(in_.size / (1 << 20)).toFixed(1)} MB; 50.0 MB is the most that can be attached. It was not attached.`,
				'Put it into the folder and name it in your message: the agent reads what it needs.',
			);
		const of = id('upload');
		this.#coming.set(of, { name, size: in_.size });
		return { id: of, name, size: in_.size };
	}

	#read(name: string, size: number, content: string): Attachment {
		if (/\.(png|jpe?g|webp|gif)$/i.test(name))
			return this.put({ kind: 'image', name, size, mime: 'image/png', width: 640, height: 480, tokens: 410 });
		if (content.includes('broken'))
			throw no(
				'invalid',
				`${name} cannot be read as a PDF: it is damaged or cut off. It was not attached.`,
				'Open it in a viewer, print it into a new PDF, and attach that.',
			);
		if (name.endsWith('.pdf'))
			return this.put({ kind: 'pdf', name, size, pages: 12, tokens: 4300 }, '[page 1]\nBudget\n');
		return this.put({ kind: 'text', name, size, tokens: Math.ceil(content.length / 4) }, content);
	}
}

/** attachedScene shows a conversation whose message has everything that can be attached. */
export function attachedScene(w: World, desk: Desk, speech: Speech): void {
	const ko = speech === 'ko';
	const attached = [
		desk.put({
			kind: 'image',
			name: ko ? '제주 바다.jpg' : 'sea-at-jeju.jpg',
			size: 3_410_000,
			mime: 'image/png',
			width: 2048,
			height: 1536,
			tokens: 4195,
		}),
		desk.put(
			{
				kind: 'pdf',
				name: ko ? '2026 예산 보고서.pdf' : 'budget-report-2026.pdf',
				size: 812_000,
				pages: 12,
				tokens: 6230,
			},
			ko
				? '[page 1]\n2026년 예산\n총액은 4천2백만 원입니다.\n\n[page 2]\n위험\n환율과 일정.\n'
				: '[page 1]\nBudget 2026\nThe sum is 42 million.\n\n[page 2]\nRisks\nExchange rates, and the schedule.\n',
		),
		desk.put({ kind: 'folder', name: 'ledger', path: '/home/minji/src/ledger' }),
	];
	const s = makeSession({ id: 's-attached', title: ko ? '보고서와 사진 비교' : 'Compare the report with the photo' });
	w.sessions.unshift(s);
	const text = ko ? '보고서 2쪽의 위험을 사진과 견주어 주세요.' : 'Compare the risks on page 2 with the photo.';
	const said: Message = makeMessage({ session_id: s.id, run_id: 'r-attached', role: 'user', content: text });
	w.messages.push({ ...said, attachments: attached });
	w.runs.push({
		run: makeRun({ id: 'r-attached', session_id: s.id, text }),
		changes: [],
		steps: [
			makeStep({
				run_id: 'r-attached',
				kind: 'model',
				text: ko ? '2쪽은 두 가지를 말합니다.' : 'Page 2 names two of them.',
			}),
		],
	});
}
