import type { RunState } from './api.gen';

const over: RunState[] = ['done', 'failed', 'stopped', 'interrupted'];

/** ended reports whether nothing more will happen in a run of this state. */
export const ended = (state: RunState): boolean => over.includes(state);
