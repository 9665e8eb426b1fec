import { describe, expect, it } from 'vitest';
import { installsOf, isKey, withoutPlaceholders } from './install';

const server = { command: 'npx', args: ['-y', 'notes@1.2.3'], env: { NOTES_KEY: 'k' } };
const want = { name: 'my-notes', ...server, url: '', headers: {} };
const url = 'https://mcp.example.com/mcp';
const away = { name: 'tracker', command: '', args: [], env: {}, url, headers: {} };
const config = (v: unknown) => encodeURIComponent(btoa(JSON.stringify(v)));
const said = (v: unknown) => encodeURIComponent(JSON.stringify(v));

describe('a text that installs a server', () => {
	it('is a link, a line or a snippet', () => {
		for (const text of [
			`cursor://anysphere.cursor-deeplink/mcp/install?name=My%20Notes&config=${config(server)}`,
			`https://cursor.com/en/install-mcp?name=My+Notes&config=${config(server)}`,
			`lmstudio://add_mcp?name=My%20Notes&config=${config(server)}`,
			`cursor://anysphere.cursor-deeplink/mcp/install?config=${config({ 'My Notes': server })}`,
			`cursor://anysphere.cursor-deeplink/mcp/install?name=My%20Notes&config=${config({ command: 'npx -y notes@1.2.3', env: server.env })}`,
			`vscode:mcp/install?${said({ name: 'My Notes', ...server })}`,
			`vscode-insiders:mcp/install?${said({ name: 'My Notes', type: 'stdio', ...server })}`,
			`https://insiders.vscode.dev/redirect/mcp/install?name=My%20Notes&config=${said(server)}`,
			`https://insiders.vscode.dev/redirect?url=${encodeURIComponent(`vscode:mcp/install?${said({ name: 'My Notes', ...server })}`)}`,
			` claude mcp add "My Notes" -e NOTES_KEY=k -- npx -y notes@1.2.3\n`,
			`$ claude mcp add --scope user --env NOTES_KEY=k \\\n  my-notes npx -y notes@1.2.3`,
			`codex mcp add my-notes --env NOTES_KEY=k -- npx -y notes@1.2.3`,
			`claude mcp add-json my-notes '${JSON.stringify(server)}'`,
			JSON.stringify({ mcpServers: { 'My Notes': server } }, null, 2),
			'```json\n' + JSON.stringify({ mcpServers: { 'My Notes': server } }) + '\n```',
			`"mcpServers": ${JSON.stringify({ 'My Notes': server })}`,
			JSON.stringify({ inputs: [], servers: { 'My Notes': server } }),
		])
			expect(installsOf(text), text).toEqual([want]);
	});

	it('names servers that run elsewhere, and more than one', () => {
		for (const text of [
			`claude mcp add --transport http tracker ${url}`,
			`claude mcp add tracker --transport http ${url}`,
			`codex mcp add tracker --url ${url}`,
			JSON.stringify({ servers: { Tracker: { type: 'http', url } } }),
		])
			expect(installsOf(text), text).toEqual([away]);
		expect(installsOf(`claude mcp add -t http tracker ${url} -H "X-Key: a b"`)).toEqual([
			{ ...away, headers: { 'X-Key': 'a b' } },
		]);
		expect(installsOf(JSON.stringify({ mcpServers: { 'my notes': server, tracker: { url } } }))).toEqual([want, away]);
	});

	it('is not any other text', () => {
		for (const text of [
			'',
			'npx -y notes',
			url,
			`Please look at cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=${config(server)}`,
			`What does this do? claude mcp add x -- y`,
			`claude mcp add x -- y\nclaude mcp add z -- y`,
			`claude mcp add --transport sse x ${url}`,
			'claude mcp add x',
			'claude mcp add --strange x y',
			'claude mcp remove x y',
			`cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=%%%`,
			`cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=${config([1])}`,
			`https://cursor.com.example.com/install-mcp?name=x&config=${config(server)}`,
			'vscode:mcp/install?%7B',
			JSON.stringify(server),
			JSON.stringify({ servers: { prod: { url } } }),
			JSON.stringify({ mcpServers: {} }),
			JSON.stringify({ mcpServers: { a: { command: 1 } } }),
			JSON.stringify({ mcpServers: { a: { command: 'x', args: ['a\u202eb'] } } }),
			'x'.repeat(70_000),
		])
			expect(installsOf(text), text.slice(0, 100)).toBeUndefined();
	});

	it('asks for what stands in it only as a placeholder', () => {
		const v = { A: '${input:key}', B: 'YOUR_API_KEY', C: '<token>', D: 'real', E: '' };
		expect(withoutPlaceholders(v)).toEqual({ A: '', B: '', C: '', D: 'real', E: '' });
		expect([isKey('GITHUB_TOKEN'), isKey('FOLDER')]).toEqual([true, false]);
	});
});
