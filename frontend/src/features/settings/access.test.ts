import { describe, expect, it } from 'vitest';
import { draftOf, roleOf, wrong } from './access';

describe('a role in the editor', () => {
	it('comes out as it went in', () => {
		const role = {
			name: 'reviewer',
			profile: 'standard',
			allowed_tools: ['read'],
			denied_tools: ['exec'],
			denied_actions: ['manage_agents' as const],
			allowed_paths: ['~/a', '~/b'],
			denied_paths: ['~/a/secret'],
			network_access: false,
			can_fork: true,
			max_execution_time_secs: 60,
			max_memory_mb: 0,
		};
		expect(roleOf(draftOf(role))).toEqual(role);
	});

	it('keeps the difference between every tool and none', () => {
		const d = draftOf();
		expect(roleOf(d).allowed_tools).toBeUndefined();
		d.someTools = true;
		expect(roleOf(d).allowed_tools).toEqual([]);
	});

	it('takes lines without words for no rule', () => {
		expect(roleOf({ ...draftOf(), paths: ' \n\n', notPaths: ' ~/x \n' })).toMatchObject({ denied_paths: ['~/x'] });
		expect(roleOf({ ...draftOf(), paths: ' \n' }).allowed_paths).toBeUndefined();
	});

	it('knows a number that is none', () => {
		expect([wrong(''), wrong(' 60 '), wrong('1h'), wrong('-1')]).toEqual([false, false, true, true]);
	});
});
