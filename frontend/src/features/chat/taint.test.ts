import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKernel } from '../../kernel/api.gen';
import { Approvals } from '../../kernel/approvals.svelte';
import { provideLive } from '../../kernel/context';
import { notes } from '../../kernel/fake/taint';
import { FakeTransport } from '../../kernel/fake/transport';
import { Card } from './approval.svelte';
import Ask from './Ask.svelte';
