// A registry of npm on this computer, with one package: a file that is a program.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

/** npmRegistry starts one. publish adds a version, which is the newest then; asked are the requests so far. */
export async function npmRegistry(name, program) {
	const files = {};
	const versions = {};
	const asked = [];
	const server = createServer((req, res) => {
		asked.push(req.url);
		const at = decodeURIComponent(req.url.slice(1));
		if (files[at]) return res.end(files[at]);
		res.setHeader('content-type', 'application/json');
		if (at !== name) {
			res.statusCode = 404;
			return res.end('{"error":"not_found"}');
		}
		const all = Object.keys(versions);
		res.end(JSON.stringify({ name, versions, 'dist-tags': { latest: all.at(-1) } }));
	});
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	const url = `http://127.0.0.1:${server.address().port}/`;
	const publish = (version) => {
		const says = { name, version, type: 'module', bin: { [name]: 'server.mjs' } };
		const archive = tgz({ 'package/package.json': JSON.stringify(says), 'package/server.mjs': program });
		files[`files/${version}.tgz`] = archive;
		const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
		versions[version] = { ...says, dist: { tarball: `${url}files/${version}.tgz`, integrity } };
	};
	publish('1.0.0');
	return { url, asked, publish, end: () => server.close() };
}

function tgz(files) {
	const blocks = Object.entries(files).flatMap(([name, content]) => {
		const body = Buffer.from(content);
		const head = Buffer.alloc(512);
		const octal = (n, at, length) => head.write(n.toString(8).padStart(length - 1, '0'), at);
		head.write(name);
		octal(0o755, 100, 8);
		octal(0, 108, 8);
		octal(0, 116, 8);
		octal(body.length, 124, 12);
		octal(0, 136, 12);
		head.write('        0', 148);
		head.write('ustar\u000000', 257);
		octal(
			head.reduce((sum, b) => sum + b, 0),
			148,
			7,
		);
		return [head, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
	});
	return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}
