import type { KernelError, RunView, Session } from '../api.gen';
import { Failure } from '../transport';
import type { World } from './data';

/** no is a refusal of the scripted kernel. */
export const no = (code: string, message: string, hint = '') => new Failure({ code, message, hint } as KernelError);

/** Core is what the areas of the scripted kernel share. */
export interface Core {
	world: World;
	/** emit says something to everyone who listens. */
	emit(kind: string, data: unknown, of?: { run_id?: string; session_id?: string }): void;
	/** announce counts what runs and waits, and says how the kernel is. */
	announce(): void;
	session(id: string): Session;
	run(id: string): RunView;
	/** rest takes as long as so many pieces of an answer. */
	rest(pieces?: number): Promise<void>;
}
