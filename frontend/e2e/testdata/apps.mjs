// A small MCP server with apps, over stdio: its pages are the files that its command line names, "show" the first.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const type = 'text/html;profile=mcp-app';
const named = process.argv.slice(2).map((path) => ({
	name: path.replace(/^.*\//, '').replace(/\.html$/, ''),
	text: readFileSync(path, 'utf8'),
}));
const pages = new Map([
	...named.map(({ name, text }) => [name === 'app' ? 'show' : name, text]),
	['loop', '<!doctype html><p>about to loop</p><script>setTimeout(() => { for (;;); }, 300)</script>'],
	['mute', '<!doctype html><p>It says nothing.</p>'],
]);
const input = { type: 'object', properties: { text: { type: 'string' } } };
const tools = [
	...[...pages.keys()].map((name) => ({
		name,
		title: name[0].toUpperCase() + name.slice(1),
		description: `Shows a text as a page: ${name}.`,
		inputSchema: input,
		_meta: { ui: { resourceUri: `ui://apps/${name}.html` } },
	})),
	{ name: 'forApps', description: 'Counts.', inputSchema: input, _meta: { ui: { visibility: ['app'] } } },
	{ name: 'forAgents', description: 'Counts.', inputSchema: input, _meta: { ui: { visibility: ['model'] } } },
];

const answers = {
	initialize: (p) => ({
		protocolVersion: p.protocolVersion,
		capabilities: { tools: {}, resources: {}, extensions: { 'io.modelcontextprotocol/ui': {} } },
		serverInfo: { name: 'apps', title: 'Apps', version: '0.1.0' },
	}),
	'tools/list': () => ({ tools }),
	'tools/call': (p) => ({
		content: [
			{ type: 'text', text: pages.has(p.name) ? `Shown: ${p.arguments.text}` : `${p.name} says: ${p.arguments.text}` },
		],
		structuredContent: { count: p.arguments.text.length },
	}),
	'resources/read': ({ uri }) => {
		const page = pages.get(/^ui:\/\/apps\/(\w+)\.html$/.exec(uri)?.[1]);
		if (page === undefined) return { contents: [{ uri, mimeType: 'text/plain', text: 'a note of the server' }] };
		const csp = { resourceDomains: ['https://cdn.example.com'] };
		return { contents: [{ uri, mimeType: type, text: page, _meta: { ui: uri.includes('show') ? { csp } : {} } }] };
	},
};

for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) continue;
	const answer = answers[method];
	const body = answer ? { result: answer(params) } : { error: { code: -32601, message: 'Method not found' } };
	process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\n');
}
