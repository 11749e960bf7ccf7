import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadPart, partLost } from './lazy-part';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('a part that loads on first use', () => {
  it('is what its script has', async () => {
    expect(await loadPart(() => Promise.resolve('part'))).toBe('part');
  });

  it('stays away where its script fails: the shell hears of it, and the log has the cause', async () => {
    const page = new EventTarget();
    const lost = vi.fn();
    page.addEventListener(partLost, lost);
    vi.stubGlobal('window', page);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const cause = new TypeError('no script');
    expect(await loadPart(() => Promise.reject(cause))).toBeUndefined();
    expect(lost).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(cause);
  });
});
