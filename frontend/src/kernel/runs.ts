import type { RunState } from './api.gen';

const over: RunState[] = ['done', 'failed', 'stopped', 'interrupted'];

/** ended reports whether nothing more will happen in a run of this state. */
export const ended = (state: RunState): boolean => over.includes(state);

/**
 * outcome is the state of a run as it is shown: one that is done without having met what its task promised is told
 * apart.
 */
export const outcome = (r: { state: string; not_met?: boolean }): string => (r.not_met ? 'not_met' : r.state);
