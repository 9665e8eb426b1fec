import { told, type World } from './data';

/** paths are the files of the folder, those that changed last first. */
const paths = [
	'receipts.md',
	'src/ledger/ledger.go',
	'src/ledger/ledger_test.go',
	'제주 사진/바다.jpg',
	'Documents/Receipts/2026/2026-11-03 Hanaro Mart 48,200.pdf',
	'src/main.go',
	'보고서.hwp',
	'README.md',
	'Makefile',
	'src/',
	'src/ledger/',
	'제주 사진/',
];

/** folderOf is a folder of the machine: what is in it, and what was said of it. */
function folderOf(w: World, path: string) {
	const home = '/home/minji';
	const full = path.replace(/^~/, home) || home;
	const inside: Record<string, string[]> = {
		[home]: ['Documents', 'Downloads', 'Oxios', 'Pictures', 'src'],
		[`${home}/src`]: ['ledger', 'oxios'],
		[`${home}/Documents`]: ['Receipts'],
	};
	const refused = /\/\.(ssh|gnupg|aws)/.test(full);
	return {
		path: full,
		display: full.replace(home, '~'),
		exists: full in inside || Object.entries(inside).some(([p, names]) => names.some((n) => `${p}/${n}` === full)),
		refused,
		reason: refused ? 'Keys live there. Agents never work in it.' : '',
		parent: full === '/' ? '' : full.split('/').slice(0, -1).join('/') || '/',
		entries: (inside[full] ?? []).map((name) => ({ name, path: `${full}/${name}` })),
		files: full.endsWith('Downloads') ? 214 : full.endsWith('Oxios') ? 3 : 0,
		git: full.startsWith(`${home}/src/`),
		trust: w.trust[full] ?? '',
		instructions: full.startsWith(`${home}/src/`) ? { ...told(full), text: undefined } : undefined,
	};
}

/** folderCalls are the calls about folders and their files. */
export function folderCalls(w: World) {
	return {
		'exec.folder': (path: string) => folderOf(w, path),
		'exec.instructions': (path: string) => told(path),
		'security.folders': () =>
			Object.entries(w.trust)
				.filter(([path, trust]) => trust && path !== '/home/minji/Oxios')
				.map(([path, trust]) => ({
					path,
					display: path.replace('/home/minji', '~'),
					trust,
					at: new Date().toISOString(),
				})),
		'security.trustFolder': (path: string, trust: string) => {
			w.trust[path] = trust;
			return folderOf(w, path);
		},
		'exec.mentions': (q: { words: string }) => ({
			paths: q.words ? paths : paths.slice(0, 8),
			more: !q.words,
			cut: false,
		}),
	};
}
