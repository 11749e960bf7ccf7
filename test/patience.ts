/**
 * Set-up of all specs and stories: `vi.waitFor` and `vi.waitUntil` wait longer by default.
 * Their own default of 1 s is too short for processes that share few cores; vitest has no setting.
 */
import { vi } from 'vitest';
import { PATIENCE } from './src/patience.js';

const timeout = 10_000 * PATIENCE;
const { waitFor, waitUntil } = vi;
type Options = Parameters<typeof waitFor>[1];

function patiently(options: Options): Options {
  return typeof options === 'number' ? options : { timeout, ...options };
}
vi.waitFor = (callback, options) => waitFor(callback, patiently(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patiently(options));
