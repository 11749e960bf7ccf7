import { describe, expect, it } from 'vitest';
import { findForbiddenUrl } from './device-urls.js';

const allowed = { origins: new Set(['https://files.example', 'http://10.0.0.5:8080']) };
const upgrade = (url: unknown): ReturnType<typeof findForbiddenUrl> =>
  findForbiddenUrl('self.upgrade_firmware', { url }, allowed);

describe('findForbiddenUrl', () => {
  it.each(['https://files.example/fw.bin?v=2', 'https://files.example', 'http://10.0.0.5:8080/a/b'])(
    'lets %s through',
    (url) => {
      expect(upgrade(url)).toBeUndefined();
    },
  );

  it.each([
    ['another host', 'https://evil.example/fw.bin'],
    ['another port', 'https://files.example:8443/fw.bin'],
    ['another scheme of the same host', 'http://files.example/fw.bin'],
    ['an allowed host as user name', 'https://files.example@evil.example/'],
    ['a backslash that two parsers read differently', 'https://files.example\\@evil.example/'],
    ['line breaks that we would drop', 'https://files.example\n.evil.example/'],
    ['leading space', ' https://files.example/fw.bin'],
    ['upper case, which we would fold', 'HTTPS://files.example/fw.bin'],
    ['dots that we would resolve', 'https://files.example/a/../b'],
    ['a file', 'file:///etc/passwd'],
    ['no URL at all', 'the default'],
    ['nothing', ''],
  ])('refuses %s', (_, url) => {
    expect(upgrade(url)).toMatchObject({ path: 'url' });
  });

  it('checks every text of such a tool, at any depth and in any case', () => {
    const args = { options: [{ target: 'https://evil.example/' }], quality: 80 };
    expect(findForbiddenUrl('Self.Screen.Snapshot', args, allowed)).toMatchObject({ path: 'options.0.target' });
  });

  it('does not check the texts of other tools', () => {
    expect(findForbiddenUrl('self.screen.show_text', { text: 'https://evil.example/' }, allowed)).toBeUndefined();
  });

  it('allows the exact address that the hub made for the call', () => {
    const ownUrl = 'http://10.0.0.9:8080/t/snapshot/abc';
    const snapshot = (url: string) => findForbiddenUrl('self.screen.snapshot', { url }, { ...allowed, ownUrl });
    expect(snapshot(ownUrl)).toBeUndefined();
    expect(snapshot(`${ownUrl}d`)).toBeDefined();
    expect(snapshot('http://10.0.0.9:8080/')).toBeDefined();
  });
});
