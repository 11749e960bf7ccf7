import { afterEach, describe, expect, it, vi } from 'vitest';
import { reloadConsole } from './reload-console';

const ok = { ok: true, status: 200, type: 'basic' };

/** Whether the page was reloaded, and what the caller heard. */
async function reloadedBy(answer: object | undefined) {
  const reload = vi.fn();
  const fetched = vi.fn(() => (answer ? Promise.resolve(answer) : Promise.reject(new TypeError('no network'))));
  vi.stubGlobal('fetch', fetched);
  vi.stubGlobal('location', { reload });
  const said = await reloadConsole();
  expect(reload).toHaveBeenCalledTimes(said ? 1 : 0);
  expect(fetched).toHaveBeenCalledWith('/', { redirect: 'manual' });
  return said;
}

afterEach(() => void vi.unstubAllGlobals());

describe('reloading the console', () => {
  it('happens where the hub answers', async () => expect(await reloadedBy(ok)).toBe(true));

  it.each([undefined, { ok: false, status: 404, type: 'basic' }, { ok: false, status: 503, type: 'basic' }])(
    'does not lose the page while the hub is away (%o)',
    async (answer) => expect(await reloadedBy(answer)).toBe(false),
  );

  it.each([
    { ok: false, status: 0, type: 'opaqueredirect' },
    { ok: false, status: 401, type: 'basic' },
  ])('leads to the sign-in page of a proxy (%o)', async (answer) => expect(await reloadedBy(answer)).toBe(true));
});
