import { configure } from '@testing-library/svelte';
import { vi } from 'vitest';

// What a test waits for comes at once or never, and how fast is for the machine to say: a bound is only for what hangs.
const bound = 20_000;
configure({ asyncUtilTimeout: bound });
const wait = vi.waitFor.bind(vi);
vi.waitFor = (check, options) => wait(check, { ...(typeof options === 'object' ? options : {}), timeout: bound });
