import { getContext, setContext } from 'svelte';
import type { Live } from './live.svelte';

const key = Symbol('live');

export function provideLive(live: Live): Live {
	return setContext(key, live);
}

/** useLive returns what the page knows of the kernel. */
export function useLive(): Live {
	return getContext<Live>(key);
}
