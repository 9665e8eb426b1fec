import { describe, expect, it } from 'vitest';
import type { Approval, ServerField } from '../../kernel/api.gen';
import type { Approvals } from '../../kernel/approvals.svelte';
import { visible } from '../../ui/visible';
import { Form, limitsOf } from './form.svelte';

const fields: ServerField[] = [
	{ name: 'name', kind: 'text', required: true, min: 2, max: 40 },
	{ name: 'beds', kind: 'integer', min: 1, max: 4, default: 2 as never },
	{ name: 'mail', kind: 'text', format: 'email' },
	{ name: 'extras', kind: 'choices', options: [{ value: 'bike' }, { value: 'dog' }] },
	{ name: 'late', kind: 'boolean', default: true as never },
];

function setup(fails = false) {
	const sent: unknown[] = [];
	const approvals = {
		answer: async (a: unknown) => {
			sent.push(a);
			if (fails) throw new Error('Beds: too many.');
		},
		load: async () => {},
	} as unknown as Approvals;
	const approval = { id: 'a1', request: { run_id: 'r1', form: { server: 'rooms', message: '', fields } } };
	return { form: new Form(approvals, approval as unknown as Approval), sent };
}

describe('what a server asks', () => {
	it('begins with the defaults, and cannot be sent without what is needed', () => {
		const { form } = setup();
		expect(form.values).toEqual({ name: '', beds: '2', mail: '', extras: [], late: true });
		expect(form.lacks).toBe(true);
		form.values.name = 'Ann';
		expect(form.lacks).toBe(false);
	});

	it('sends what was filled in; what was emptied is none', async () => {
		const { form, sent } = setup();
		form.values.name = 'Ann';
		form.values.beds = '';
		form.toggle('extras', 'dog');
		form.toggle('extras', 'bike');
		form.toggle('extras', 'dog');
		await form.send();
		const values = { name: 'Ann', beds: null, mail: null, extras: ['bike'], late: true };
		expect(sent).toEqual([{ run_id: 'r1', approval_id: 'a1', values }]);
	});

	it('is declined or left without values', async () => {
		const { form, sent } = setup();
		await form.refuse('decline');
		await form.refuse('cancel');
		expect(sent).toEqual([
			{ run_id: 'r1', approval_id: 'a1', action: 'decline' },
			{ run_id: 'r1', approval_id: 'a1', action: 'cancel' },
		]);
	});

	it('keeps what was filled in when it does not fit', async () => {
		const { form } = setup(true);
		form.values.name = 'Ann';
		await form.send();
		expect(form.failure?.message).toBe('Beds: too many.');
		expect(form.values.name).toBe('Ann');
		expect(form.sending).toBe(false);
	});

	it('says what fits', () => {
		expect(fields.map(limitsOf)).toEqual(['2 to 40 characters', 'From 1 to 4', 'Email address', '', '']);
	});

	it('shows what nobody sees', () => {
		expect(visible('a\u202eb\nc', true)).toBe('a⟨U+202E⟩b\nc');
	});
});
