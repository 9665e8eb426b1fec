import type { MCPPrompt } from '../../kernel/api.gen';

/** Started is a message that begins with a prompt of a server, as the kernel reads it. */
export interface Started {
	prompt: MCPPrompt;
	values: Record<string, string>;
	/** rest is what the person writes behind the values. */
	rest: string;
}

/** startedIn is the prompt that a text begins with, if it is one of those. */
export function startedIn(text: string, prompts: MCPPrompt[]): Started | undefined {
	const call = /^\/([a-z0-9-]+:\S+)(?=\s|$)/.exec(text)?.[1];
	const prompt = prompts.find((p) => p.call === call);
	if (!prompt) return undefined;
	const values: Record<string, string> = {};
	let rest = text.slice(call!.length + 1);
	for (;;) {
		const m = /^[ \t]*([^\s=]+)=/.exec(rest);
		if (!m || !prompt.args?.some((a) => a.name === m[1])) break;
		rest = rest.slice(m[0].length);
		const quoted = /^"((?:[^"\\]|\\[\s\S])*)"?/.exec(rest);
		const value = quoted ?? /^\S*/.exec(rest)!;
		values[m[1]!] = quoted ? quoted[1]!.replace(/\\([\s\S])/g, '$1') : value[0];
		rest = rest.slice(value[0].length);
	}
	return { prompt, values, rest: rest.replace(/^[ \t]/, '') };
}

/** textOf writes a prompt with its values: startedIn reads the same. */
export function textOf({ prompt, values, rest }: Started): string {
	const words = (prompt.args ?? []).flatMap(({ name }) => {
		const v = values[name] ?? '';
		if (v === '') return [];
		return `${name}=${/^[^\s"\\]+$/.test(v) ? v : `"${v.replace(/["\\]/g, '\\$&')}"`}`;
	});
	return [`/${prompt.call}`, ...words].join(' ') + ` ${rest}`;
}

/** missing are the values that a prompt needs and has not. */
export function missing({ prompt, values }: Started): string[] {
	return (prompt.args ?? []).filter((a) => a.required && !values[a.name]?.trim()).map((a) => a.title || a.name);
}
