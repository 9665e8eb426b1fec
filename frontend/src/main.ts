import { mount } from 'svelte';
import './styles/base.css';
import { makeKernel } from './kernel/api.gen';
import { connect } from './kernel/connect';
import { Live } from './kernel/live.svelte';
import { inQuick } from './kernel/quick';
import { holdsFiles } from './kernel/window';
import SignIn from './shell/SignIn.svelte';
import { theme } from './shell/theme';
import { i18n, languageOf } from './ui/i18n/index.svelte';

const target = document.getElementById('app')!;

// A file that misses its place would take the page's. One that is let go at once brings no dragover.
for (const kind of ['dragenter', 'dragover', 'drop'] as const)
	window.addEventListener(kind, (e) => holdsFiles(e.dataTransfer) && e.preventDefault());

const quick = inQuick() || (__FAKE__ && new URLSearchParams(location.search).has('quick'));

/** The small window does not read the large one's code. In a condition vite would lose the styles of one of them. */
const pages = { app: () => import('./shell/App.svelte'), quick: () => import('./shell/quick/Quick.svelte') };

async function start(): Promise<void> {
	theme('');
	i18n.set(languageOf(undefined));
	const [{ default: Page }, transport] = await Promise.all([pages[quick ? 'quick' : 'app'](), connect()]);
	if (transport) mount(Page, { target, props: { live: new Live(makeKernel(transport), transport) } });
	else mount(SignIn, { target });
}

void start();
