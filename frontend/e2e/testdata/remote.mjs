// An MCP server over HTTP that needs a sign-in, and its authorization server: both small, both on this computer.
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const tools = [
	{
		name: 'count_words',
		title: 'Count words',
		description: 'Counts the words of a text.',
		inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
	},
];

const answers = {
	initialize: (p) => ({
		protocolVersion: p.protocolVersion,
		capabilities: { tools: {} },
		serverInfo: { name: 'counter', title: 'Word counter', version: '0.4.0' },
	}),
	'tools/list': () => ({ tools }),
	'tools/call': (p) => ({ content: [{ type: 'text', text: `${p.arguments.text.split(/\s+/).length} words` }] }),
};

async function bodyOf(req) {
	let text = '';
	for await (const piece of req) text += piece;
	return text;
}

const json = (res, body, code = 200, headers = {}) =>
	res.writeHead(code, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

/** remote starts both; end closes them. */
export async function remote() {
	const codes = new Map();
	const tokens = new Set();
	let issuer = '';
	let url = '';
	const mcp = createServer(async (req, res) => {
		const path = new URL(req.url, url).pathname;
		if (path === '/.well-known/oauth-protected-resource/mcp')
			return json(res, { resource: url, authorization_servers: [issuer], scopes_supported: ['count'] });
		if (path !== '/mcp') return json(res, {}, 404);
		if (!tokens.has((req.headers.authorization ?? '').replace('Bearer ', ''))) {
			const where = `Bearer resource_metadata="${new URL('/.well-known/oauth-protected-resource/mcp', url)}"`;
			return json(res, {}, 401, { 'WWW-Authenticate': where });
		}
		if (req.method !== 'POST') return json(res, {}, 405);
		const { id, method, params } = JSON.parse(await bodyOf(req));
		if (id === undefined) return res.writeHead(202).end();
		const answer = answers[method];
		const body = answer ? { result: answer(params) } : { error: { code: -32601, message: 'Method not found' } };
		json(res, { jsonrpc: '2.0', id, ...body });
	});
	const auth = createServer(async (req, res) => {
		const at = new URL(req.url, issuer);
		const q = at.searchParams;
		switch (at.pathname) {
			case '/.well-known/oauth-authorization-server':
				return json(res, {
					issuer,
					authorization_endpoint: `${issuer}/authorize`,
					token_endpoint: `${issuer}/token`,
					registration_endpoint: `${issuer}/register`,
					code_challenge_methods_supported: ['S256'],
					token_endpoint_auth_methods_supported: ['none'],
				});
			case '/register':
				return json(res, { ...JSON.parse(await bodyOf(req)), client_id: randomUUID() }, 201);
			case '/authorize': {
				const code = randomUUID();
				codes.set(code, q);
				const back = new URL(q.get('redirect_uri'));
				back.search = new URLSearchParams({ code, state: q.get('state') }).toString();
				return res
					.writeHead(200, { 'Content-Type': 'text/html' })
					.end(`<h1>Let Oxios count words?</h1><a href="${back.href.replaceAll('&', '&amp;')}">Allow</a>`);
			}
			case '/token': {
				const form = new URLSearchParams(await bodyOf(req));
				const asked = codes.get(form.get('code'));
				const proof = createHash('sha256')
					.update(form.get('code_verifier') ?? '')
					.digest('base64url');
				if (asked?.get('code_challenge') !== proof) return json(res, { error: 'invalid_grant' }, 400);
				const access_token = randomUUID();
				tokens.add(access_token);
				return json(res, { access_token, token_type: 'Bearer', scope: 'count' });
			}
		}
		json(res, {}, 404);
	});
	const listen = (s) => new Promise((resolve) => s.listen(0, '127.0.0.1', () => resolve(s.address().port)));
	url = `http://127.0.0.1:${await listen(mcp)}/mcp`;
	issuer = `http://127.0.0.1:${await listen(auth)}`;
	return {
		url,
		issuer,
		end: () => [mcp, auth].forEach((s) => (s.close(), s.closeAllConnections())),
	};
}
