import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import FindSkills from './FindSkills.svelte';
import { Skills } from './skills.svelte';

it('asks a registry that the person switched on, and installs what they choose', async () => {
	const fake = new FakeTransport();
	const oninstall = vi.fn();
	render(FindSkills, { skills: new Skills(new Live(makeKernel(fake), fake)), busy: false, oninstall });
	await fireEvent.click(await screen.findByRole('switch', { name: 'Search in clawhub.ai' }));
	const words = await screen.findByLabelText('What should the skill be for?');
	await fireEvent.input(words, { target: { value: 'sort papers' } });
	await fireEvent.keyDown(words, { key: 'Enter' });
	await fireEvent.click(await screen.findByRole('button', { name: 'Install tidy-up' }));
	expect(oninstall).toHaveBeenCalledWith('https://clawhub.ai/minji/tidy-up');
	await fireEvent.input(words, { target: { value: 'nothing' } });
	await fireEvent.keyDown(words, { key: 'Enter' });
	await waitFor(() => expect(screen.getByText('No skill found for “nothing”.')).toBeTruthy());
});
