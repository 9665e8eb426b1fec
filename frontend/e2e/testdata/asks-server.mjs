// A small MCP server over stdio that asks the person for more, opens a page, and tells how far it is.
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const tool = (name, description) => ({ name, description, inputSchema: { type: 'object', properties: {} } });
const form = {
	mode: 'form',
	message: 'Which room do you want?\u202e\nAll of them have a view.',
	requestedSchema: {
		type: 'object',
		required: ['name', 'beds'],
		properties: {
			name: { type: 'string', title: 'Your name', minLength: 2, maxLength: 40 },
			beds: {
				type: 'integer',
				title: 'Beds',
				description: 'How many people sleep there',
				minimum: 1,
				maximum: 4,
				default: 2,
			},
			mail: { type: 'string', title: 'Email', format: 'email' },
			from: { type: 'string', title: 'From', format: 'date' },
			view: {
				type: 'string',
				title: 'View',
				oneOf: [
					{ const: 'sea', title: 'The sea' },
					{ const: 'yard', title: 'The yard' },
				],
				default: 'sea',
			},
			extras: { type: 'array', title: 'Extras', items: { type: 'string', enum: ['bike', 'dog'] } },
			late: { type: 'boolean', title: 'Comes late' },
		},
	},
};
const page = {
	mode: 'url',
	message: 'Sign in there',
	url: 'https://rooms.example.com/sign-in?x=1',
	elicitationId: 'e1',
};

const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
const waiting = new Map();
let asked = 0;

/** ask has the client ask its person, and returns what came of it as text. */
function ask(params) {
	const id = `ask-${++asked}`;
	send({ id, method: 'elicitation/create', params });
	return new Promise((done) => waiting.set(id, (r) => done(`${r.action} ${JSON.stringify(r.content ?? {})}`)));
}

async function exported(params) {
	const progressToken = params._meta?.progressToken;
	for (let n = 1; !existsSync('go'); n = (n % 9) + 1) {
		send({ method: 'notifications/progress', params: { progressToken, progress: n, total: 10, message: `room ${n}` } });
		await new Promise((done) => setTimeout(done, 250));
	}
	return 'All rooms are exported.';
}

const calls = { book_room: () => ask(form), open_page: () => ask(page), export_rooms: exported };
const answers = {
	initialize: (p) => ({
		protocolVersion: p.protocolVersion > '2025-11-25' ? '2025-11-25' : p.protocolVersion,
		capabilities: { tools: {} },
		serverInfo: { name: 'rooms', title: 'Rooms', version: '1.0.0' },
	}),
	'tools/list': () => ({
		tools: [
			tool('book_room', 'Books a room.'),
			tool('open_page', 'Opens the page to sign in.'),
			tool('export_rooms', 'Exports all rooms.'),
		],
	}),
	'tools/call': async (p) => ({ content: [{ type: 'text', text: await calls[p.name](p) }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params, result } = JSON.parse(line);
	if (id === undefined) continue;
	if (!method) {
		waiting.get(id)?.(result ?? { action: 'failed' });
		continue;
	}
	const known = answers[method];
	if (!known) send({ id, error: { code: -32601, message: 'Method not found' } });
	else void Promise.resolve(known(params)).then((r) => send({ id, result: r }));
}
