// Programs that use Oxios, on the real kernel: one is added in the window, comes in over HTTP and standard streams, asks for
// something that waits, and is out at once when it is revoked.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, it } from 'node:test';
import { accessible, begin, binary, oxios, visit } from './oxios.mjs';
import { browser } from './serve.mjs';

const skip = binary ? false : 'OXIOS_BIN names no binary';
const script = join(dirname(fileURLToPath(import.meta.url)), 'testdata', 'programs.toml');
const shots = process.env.OXIOS_SHOTS;
let o, chrome, page, errors, address, token;

const dialog = () => page.getByRole('dialog');

async function programs() {
	await page.keyboard.press('Control+Comma');
	await page.locator('aside nav button[data-section=programs]').click();
	await page.getByRole('heading', { name: 'Programs' }).first().waitFor();
}

/** call sends one request of the version without sessions. */
async function call(method, params = {}) {
	const r = await fetch(`${address}/mcp`, {
		method: 'POST',
		headers: {
			...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
			...{ 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, Authorization: `Bearer ${token}` },
			...(params.name ? { 'Mcp-Name': params.name } : {}),
		},
		body: JSON.stringify({
			...{ jsonrpc: '2.0', id: 1, method },
			params: {
				...params,
				_meta: {
					'io.modelcontextprotocol/protocolVersion': '2026-07-28',
					'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
					'io.modelcontextprotocol/clientCapabilities': {},
				},
			},
		}),
	});
	const text = await r.text();
	if (r.status !== 200) return { status: r.status, text };
	const line = text.split('\n').find((l) => l.startsWith('data: {')) ?? text;
	return { status: 200, ...JSON.parse(line.replace(/^data: /, '')) };
}

const tool = async (name, args) => {
	const r = await call('tools/call', { name, arguments: args });
	return r.result?.content.map((c) => c.text).join('\n') ?? JSON.stringify(r);
};

describe('programs', { skip }, () => {
	before(async () => {
		o = await oxios(script);
		await o.writeConfig(`${o.config}mode = "ask"\n`);
		chrome = await browser();
		const url = await o.serve();
		address = new URL(url).origin;
		({ page, errors } = await visit(chrome, url));
		await begin(page);
	});
	after(async () => {
		await chrome?.close();
		await o?.end();
	});
	afterEach(() => assert.deepEqual(errors, [], 'errors in the page'));

	it('adds one, and shows its token this once', async () => {
		await programs();
		await page.getByText('No programs yet').waitFor();
		await accessible(page);
		await page.getByRole('button', { name: 'Add program' }).click();
		await dialog().getByRole('textbox', { name: 'Name' }).fill('Test program');
		await dialog().getByRole('switch', { name: 'Answer approvals' }).click();
		await dialog().getByText('This program then answers for you').waitFor();
		await accessible(page);
		if (shots) await page.screenshot({ path: `${shots}/programs-add.png` });
		await dialog().getByRole('switch', { name: 'Answer approvals' }).click();
		await dialog().getByRole('switch', { name: 'Run agents' }).click();
		await dialog().getByRole('button', { name: 'Add program' }).click();
		await dialog().getByText('Token of Test program').waitFor();
		token = await dialog().locator('code').first().textContent();
		assert.match(token, /^oxios_[\w-]{43}$/);
		await accessible(page);
		if (shots) await page.screenshot({ path: `${shots}/programs-token.png` });
		await dialog().getByRole('button', { name: 'Done' }).click();
		await page
			.getByRole('row', { name: /Test program/ })
			.getByText('Read, Run agents')
			.waitFor();
		assert.equal(await page.getByText(token).count(), 0);
		await accessible(page);
		if (shots) await page.screenshot({ path: `${shots}/programs.png` });
	});

	it('lets it start a run that waits for the person in Oxios', async () => {
		const started = JSON.parse(await tool('agents_submit', { text: 'Write something risky into a file' }));
		const waits = await tool('agents_wait', { id: started.run_id });
		assert.match(waits, /waits for the person in Oxios \(approval [\w-]+\)/);
		assert.match(await tool('knowledge_write', { path: 'a', text: 'b' }), /does not have the scope vault/);
		const [ap] = JSON.parse((await o.cli('approvals', 'list', '--json')).out);
		assert.equal(ap.request.labels[0].origin, 'client');
		await o.cli('approvals', 'approve', ap.id);
		assert.match(await tool('agents_wait', { id: started.run_id }), /The file is made/);
	});

	it('serves it over standard streams, with nothing else in them', async () => {
		const child = spawn(binary, ['mcp', 'serve', '--client', 'Test program'], {
			...{ env: o.env, stdio: ['pipe', 'pipe', 'inherit'] },
		});
		const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
		const send = (m) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
		send({
			...{ id: 1, method: 'initialize' },
			params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
		});
		assert.equal(JSON.parse((await lines.next()).value).result.serverInfo.name, 'oxios');
		send({ method: 'notifications/initialized' });
		send({ id: 2, method: 'tools/list' });
		const tools = JSON.parse((await lines.next()).value).result.tools.map((t) => t.name);
		assert.ok(tools.includes('agents_submit') && !tools.includes('knowledge_write'), `${tools}`);
		child.stdin.end();
		const code = await new Promise((done) => child.once('exit', done));
		assert.equal(code, 0);
	});

	it('has it out at once when it is revoked', async () => {
		await page.getByRole('button', { name: 'Revoke Test program' }).click();
		await accessible(page);
		await dialog().getByRole('button', { name: 'Revoke access' }).click();
		await page.getByText('No programs yet').waitFor();
		const r = await call('tools/list');
		assert.equal(r.status, 401);
		assert.match(r.text, /unknown or was revoked/);
		assert.match((await o.cli('audit', 'list')).out, /client:Test program/);
	});
});
