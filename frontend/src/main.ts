import { mount } from 'svelte';
import './styles/base.css';
import { makeKernel } from './kernel/api.gen';
import { connect } from './kernel/connect';
import { Live } from './kernel/live.svelte';
import { holdsFiles } from './kernel/window';
import App from './shell/App.svelte';
import SignIn from './shell/SignIn.svelte';
import { theme } from './shell/theme';
import { i18n, languageOf } from './ui/i18n/index.svelte';

const target = document.getElementById('app')!;

// A file that misses its place would take the page's. One that is let go at once brings no dragover.
for (const kind of ['dragenter', 'dragover', 'drop'] as const)
	window.addEventListener(kind, (e) => holdsFiles(e.dataTransfer) && e.preventDefault());

async function start(): Promise<void> {
	theme('');
	i18n.set(languageOf(undefined));
	const transport = await connect();
	if (transport) mount(App, { target, props: { live: new Live(makeKernel(transport), transport) } });
	else mount(SignIn, { target });
}

void start();
