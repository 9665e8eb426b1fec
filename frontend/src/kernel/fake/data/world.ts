import type {
	AgentMessage,
	Approval,
	Change,
	Fallbacks,
	ConfigView,
	Memory,
	MemoryEmbedding,
	Message,
	Model,
	Policy,
	Provider,
	Queued,
	RunView,
	SeedView,
	Session,
	SpaceInfo,
	SpaceProposal,
	Status,
	ToolInfo,
} from '../../api.gen';
import { setFallbacks } from '../fallbacks';
import { memoriesOf } from '../memory';
import { spacesOf, type Merged } from '../spaces';
import { ended } from './ended';
import { catalogue, emptyStatus, limits } from './machine';
import type { Speech } from './make';
import { notesOf } from './notes';
import { waiting } from './waiting';
import { iso, noCost, HOUR } from './make';

/** World is everything that the scripted kernel knows. */
export interface World {
	sessions: Session[];
	messages: Message[];
	runs: RunView[];
	queued: Queued[];
	/** mail is what agents said to each other. */
	mail: AgentMessage[];
	approvals: Approval[];
	seeds: SeedView[];
	changes: Change[];
	memories: Memory[];
	spaces: SpaceInfo[];
	/** learned are the words that corrections taught, by space. */
	learned: Record<string, string[]>;
	proposals: SpaceProposal[];
	/** merged are the merges of spaces that can be undone. */
	merged: Merged[];
	/** uses are the memories that runs were given or looked up, by run. */
	uses: Record<string, string[]>;
	/** quotes are the person's words that memories were taken from, by memory. */
	quotes: Record<string, string>;
	/** notes are the texts of the vault, by their paths. */
	notes: Record<string, string>;
	providers: Provider[];
	models: Model[];
	fallbacks: Fallbacks[];
	tools: ToolInfo[];
	policy: Policy;
	status: Status;
	config: ConfigView;
	/** trust is what was said of folders, by path. */
	trust: Record<string, string>;
	/** embedding is what is other than usual about the vectors of memories. */
	embedding?: Partial<MemoryEmbedding>;
	/** busy says that the machine has too much to do. */
	busy?: boolean;
}

/** makeWorld returns a day of one person. Without a day there is nothing yet: the first start. */
export function makeWorld(speech: Speech, first: boolean): World {
	const w: World = {
		sessions: [],
		messages: [],
		runs: [],
		queued: [],
		mail: [],
		approvals: [],
		seeds: [],
		changes: [],
		memories: [],
		spaces: [],
		learned: {},
		proposals: [],
		merged: [],
		uses: {},
		quotes: {},
		notes: first ? {} : notesOf(speech),
		providers: [],
		models: [],
		fallbacks: [],
		tools: [
			['read', 'Reads a text file, with line numbers.', '텍스트 파일을 줄 번호와 함께 읽습니다.'],
			[
				'write',
				'Writes a whole file, new or in place of an old one.',
				'파일 전체를 새로 쓰거나 기존 파일을 대신해 씁니다.',
			],
			['edit', 'Replaces text in a file.', '파일의 텍스트를 바꿉니다.'],
			['grep', 'Searches the text of files.', '파일의 텍스트를 검색합니다.'],
			['find', 'Finds files and folders by name.', '이름으로 파일과 폴더를 찾습니다.'],
			['ls', 'Lists a folder.', '폴더의 목록을 봅니다.'],
			['exec', 'Runs commands.', '명령을 실행합니다.'],
		].map(([name, description, ko]) => ({
			name: name!,
			description: description!,
			description_ko: ko!,
			domain: 'exec',
			on: true,
		})),
		policy: {
			isolation: first ? 0 : 3,
			probed_at: iso(HOUR),
			mode: 'guarded',
			canaries: [
				'write outside',
				'read ~/.ssh',
				'open a socket',
				'trace another process',
				'mount',
				'load a module',
			].map((name) => ({ name, held: !first, detail: first ? '' : 'permission denied' })),
			never_touched: ['~/.ssh', '~/.gnupg', '~/.aws', 'browser profiles'],
			table: [
				{ action: 'read', ask: 'free', guarded: 'free', autonomous: 'free' },
				{ action: 'write', ask: 'ask', guarded: 'free', autonomous: 'free' },
				{ action: 'read_only_command', ask: 'ask', guarded: 'free', autonomous: 'free' },
				{ action: 'command', ask: 'ask', guarded: 'ask', autonomous: 'notice' },
				{ action: 'network', ask: 'ask', guarded: 'ask', autonomous: 'ask' },
				{ action: 'outside', ask: 'ask', guarded: 'ask', autonomous: 'ask' },
				{ action: 'unknown', ask: 'ask', guarded: 'ask', autonomous: 'ask' },
			],
		},
		trust: {
			'/home/minji/Oxios': 'trusted',
			'/home/minji/Pictures': 'trusted',
			'/home/minji/Pictures/2026-jeju': 'trusted',
			'/home/minji/Documents/Receipts': 'trusted',
			'/home/minji/Downloads': 'declined',
			'/home/minji/src/ledger': 'trusted',
		},
		status: emptyStatus(),
		config: {
			path: '/home/minji/.oxios/config.toml',
			schema: limits.map(([key, value]) => ({ key, type: 'int', default: value, description: '' })),
			values: {
				mode: 'guarded',
				role: 'operator',
				folder: '/home/minji/Oxios',
				language: speech,
				theme: 'auto',
				provider: 'ollama',
				model: 'qwen3:14b',
				notifications: 'true',
				enter_sends: 'true',
				close_to_tray: 'true',
				keep_awake: 'true',
				memory: 'true',
				memory_extract: 'true',
				memory_idle_min: '30',
				memory_tokens: '200000',
				memory_curate: 'true',
				memory_curate_hour: '3',
				quick_hotkey: 'true',
				quick_keys: 'Ctrl+Alt+Space',
				day_usd: '5',
				day_tokens: '',
				day_calls: '',
				run_usd: '0.50',
				run_tokens: '',
				run_calls: '',
				...Object.fromEntries(limits),
			},
		},
	};
	if (first) {
		Object.assign(w.status, { onboarded: false, has_model: false, isolation: 0, today: noCost, audit_entries: 3 });
		w.policy.problem = 'The kernel of this machine has no Landlock.';
		Object.assign(w.config.values, { provider: '', model: '' });
	} else {
		catalogue(w);
		setFallbacks(w, 'openai', 'gpt-5-mini', ['ollama/qwen3:14b']);
		setFallbacks(w, 'ollama', 'qwen3:14b', ['ollama/gemma3:4b', 'openai/gpt-5-mini']);
		waiting(w, speech);
		ended(w, speech);
		memoriesOf(w, speech);
		spacesOf(w, speech);
	}
	return w;
}
