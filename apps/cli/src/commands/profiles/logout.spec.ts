import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { captured } from '../../console/captured-output.suite.js';
import { profileFile, readProfiles, writeProfiles } from '../../profiles/profile-store.js';
import { programOf } from '../../program.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'flotilla-logout-'));
  for (const name of ['XDG_CONFIG_HOME', 'APPDATA']) vi.stubEnv(name, folder);
  const [shop, lab] = [
    { url: 'https://shop.example', key: 'shop-key' },
    { url: 'https://lab.example', key: 'lab-key' },
  ];
  writeProfiles(profileFile(), { current: 'lab', profiles: { shop, lab } });
});
afterEach(() => {
  vi.unstubAllEnvs();
  process.exitCode = undefined;
  rmSync(folder, { recursive: true });
});

const logout = (...words: string[]) => captured(() => programOf(['logout', ...words]).parseAsync());

describe('a logout', () => {
  it('says which hub the commands use from now on', async () => {
    const { stderr } = await logout();
    expect(readProfiles(profileFile()).current).toBe('shop');
    expect(stderr).toContain('Commands now use the profile shop: https://shop.example\n');
  });

  it('of another profile changes nothing else', async () => {
    const { stderr } = await logout('--profile', 'shop');
    expect(readProfiles(profileFile()).current).toBe('lab');
    expect(stderr).not.toContain('Commands now use');
  });
});
