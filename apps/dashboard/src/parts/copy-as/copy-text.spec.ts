import { afterEach, describe, expect, it, vi } from 'vitest';
import { copyText } from './copy-text';

/** A field, and a browser with or without a clipboard. */
function open({ clipboard, mayCopy }: { readonly clipboard?: object; readonly mayCopy: boolean }) {
  const acts: string[] = [];
  vi.stubGlobal('navigator', { clipboard });
  vi.stubGlobal('document', { execCommand: (act: string) => acts.push(act) > 0 && mayCopy });
  return { acts, field: { focus: () => void acts.push('focus'), select: () => void acts.push('select') } };
}

afterEach(() => void vi.unstubAllGlobals());

describe('a text to copy', () => {
  it('goes to the clipboard where the browser has one', async () => {
    const written: string[] = [];
    const writeText = (text: string) => Promise.resolve(void written.push(text));
    const { acts, field } = open({ clipboard: { writeText }, mayCopy: true });
    expect(await copyText('secret', field)).toBe(true);
    expect([written, acts]).toEqual([['secret'], []]);
  });

  it.each([
    ['has none', undefined],
    ['refuses', { writeText: () => Promise.reject(new DOMException('', 'NotAllowedError')) }],
  ])('is copied from its field where the clipboard %s', async (_, clipboard) => {
    const { acts, field } = open({ ...(clipboard && { clipboard }), mayCopy: true });
    expect(await copyText('secret', field)).toBe(true);
    expect(acts).toEqual(['focus', 'select', 'copy']);
  });

  it('stays selected in its field where the browser lets the page copy nothing', async () => {
    const { acts, field } = open({ mayCopy: false });
    expect(await copyText('secret', field)).toBe(false);
    expect(acts).toEqual(['focus', 'select', 'copy']);
    expect(await copyText('secret', null)).toBe(false);
  });
});
