// Files as people attach them, made here, and a model endpoint that keeps what it was asked.
import { createServer } from 'node:http';
import { crc32, deflateSync } from 'node:zlib';

/** png is a picture of one colour. */
export function png(width, height) {
	const chunk = (name, data) => {
		const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
		const out = Buffer.alloc(body.length + 8);
		out.writeUInt32BE(data.length);
		body.copy(out, 4);
		out.writeUInt32BE(crc32(body), body.length + 4);
		return out;
	};
	const head = Buffer.alloc(13);
	head.writeUInt32BE(width, 0);
	head.writeUInt32BE(height, 4);
	head.set([8, 2], 8); // eight bits of red, green and blue
	const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(3 * width, Buffer.from([13, 115, 106]))]);
	return Buffer.concat([
		Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
		chunk('IHDR', head),
		chunk('IDAT', deflateSync(Buffer.concat(Array(height).fill(row)))),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

/** pdf has a page for each text. */
export function pdf(...pages) {
	let out = '%PDF-1.7\n';
	const at = [];
	const add = (body) => {
		at.push(out.length);
		out += `${at.length} 0 obj\n${body}\nendobj\n`;
	};
	add('<< /Type /Catalog /Pages 2 0 R >>');
	add(`<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, i) => `${4 + 2 * i} 0 R`).join(' ')}] >>`);
	add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
	for (const text of pages) {
		const stream = `BT /F 12 Tf 50 800 Td (${text}) Tj ET`;
		add(
			`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >> /Contents ${at.length + 2} 0 R >>`,
		);
		add(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
	}
	const table = out.length;
	out += `xref\n0 ${at.length + 1}\n0000000000 65535 f \n`;
	for (const n of at) out += `${String(n).padStart(10, '0')} 00000 n \n`;
	out += `trailer\n<< /Size ${at.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
	return Buffer.from(out, 'latin1');
}

/** endpoint is a model server with two models: one sees, one does not. asked are the messages of each question. */
export async function endpoint() {
	const asked = [];
	const server = createServer(async (request, response) => {
		let body = '';
		for await (const part of request) body += part;
		if (request.url.endsWith('/models')) {
			const model = (id, ...input) => ({
				id,
				object: 'model',
				context_length: 32768,
				architecture: { input_modalities: input },
			});
			response.setHeader('Content-Type', 'application/json');
			response.end(JSON.stringify({ data: [model('blind-one', 'text'), model('seeing-one', 'text', 'image')] }));
			return;
		}
		// The test of a connection shows a red picture, and is no question of the person.
		const tests = body.includes('This is a connection test.');
		if (!tests) asked.push(JSON.parse(body).messages);
		response.setHeader('Content-Type', 'text/event-stream');
		const say = (choice) =>
			response.write(`data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`);
		say({ delta: { role: 'assistant', content: tests ? 'red' : `Answer ${asked.length}.` } });
		say({ delta: {}, finish_reason: 'stop' });
		response.end('data: [DONE]\n\n');
	});
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	return {
		url: `http://127.0.0.1:${server.address().port}/v1`,
		asked,
		stop: () => new Promise((done) => server.close(done)),
	};
}
