import { beforeEach, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { FakeTransport } from '../../kernel/fake/transport';
import { Live } from '../../kernel/live.svelte';
import { Vault } from './vault.svelte';

const OTHER = '/home/minji/Documents';
let transport: FakeTransport, live: Live, vault: Vault;

beforeEach(async () => {
	transport = new FakeTransport({ pace: 0 });
	live = new Live(makeKernel(transport), transport);
	live.start();
	await vi.waitFor(() => expect(live.ready).toBe(true));
	vault = new Vault(live);
	live.onevent((e) => vault.receive(e));
	await vault.begin();
	await vault.show('projects/Oxios design.md');
});

const elsewhere = () => live.kernel.infra.setConfig('vault_folder', OTHER);

it('the notes of another folder are shown as soon as it is used', async () => {
	await elsewhere();
	await vi.waitFor(() => expect(vault.notes.map((n) => n.path)).toEqual(['Home.md', 'Work/Plan.md']));
	expect(vault.current).toBeUndefined();
	expect(await vault.show('Home.md')).toBe(true);
});

it('what was not written yet stays, and is written only when the person says where', async () => {
	const note = vault.current!;
	note.type('What I think');
	await elsewhere();
	await vi.waitFor(() => expect(note.clash).toEqual({}));
	expect(vault.current).toBe(note);
	expect(note.text).toBe('What I think');
	expect(transport.world.notes).not.toHaveProperty('projects/Oxios design.md');
	expect(await note.keepMine()).toBe(true);
	expect(transport.world.notes['projects/Oxios design.md']).toBe('What I think');
});
