import type { StepView } from './api.gen';

/** stepState is the state that a step shows. */
export function stepState(s: StepView): string {
	if (s.state === 'waiting') return 'waiting';
	if (s.state !== 'closed') return 'running';
	switch (s.outcome) {
		case 'error':
			return 'failed';
		case 'denied':
			return 'denied';
		case 'canceled':
		case 'cut':
			return 'stopped';
		case 'unknown':
			return 'partly';
	}
	return 'done';
}
