/**
 * Set-up of every spec and story: `vi.waitFor` and `vi.waitUntil` wait up to 10 s where nothing else is said. Their second of patience is too short for sockets and
 * processes that share few cores, and vitest has no setting for it.
 */
import { vi } from 'vitest';

const timeout = 10_000;
const { waitFor, waitUntil } = vi;
type Options = Parameters<typeof waitFor>[1];

function patiently(options: Options): Options {
  return typeof options === 'number' ? options : { timeout, ...options };
}
vi.waitFor = (callback, options) => waitFor(callback, patiently(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patiently(options));
