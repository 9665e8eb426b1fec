// A small MCP server over stdio that has things to read and a prompt, and no tool.
import { createInterface } from 'node:readline';

const texts = { 'notes://today': 'Milk and bread.', 'notes://gone': undefined };
const answers = {
	initialize: (p) => ({
		protocolVersion: p.protocolVersion,
		capabilities: { resources: {}, prompts: {} },
		serverInfo: { name: 'notes', title: 'Notes', version: '1.0.0' },
	}),
	'resources/list': () => ({
		resources: [
			{ uri: 'notes://today', name: 'Today', description: 'What is to be done' },
			{ uri: 'notes://gone', name: 'Yesterday' },
		],
	}),
	'resources/templates/list': () => ({ resourceTemplates: [] }),
	'resources/read': ({ uri }) => texts[uri] && { contents: [{ uri, mimeType: 'text/plain', text: texts[uri] }] },
	'prompts/list': () => ({
		prompts: [
			{
				...{ name: 'weekly', title: 'Weekly review', description: 'Sums up the notes of a week.' },
				arguments: [{ name: 'topic', description: 'What it is about', required: true }, { name: 'length' }],
			},
		],
	}),
	'prompts/get': ({ arguments: a }) => ({
		messages: [{ role: 'user', content: { type: 'text', text: `Sum up the week about ${a.topic}.` } }],
	}),
};

for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) continue;
	const result = answers[method]?.(params);
	const body = result ? { result } : { error: { code: -32602, message: 'There is nothing of that name.' } };
	process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\n');
}
