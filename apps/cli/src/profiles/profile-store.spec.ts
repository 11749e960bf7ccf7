import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { captured } from '../console/captured-output.suite.js';
import { profileFile, readProfiles, writeProfiles } from './profile-store.js';

const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-profiles-'));
const file = path.join(folder, 'inner', 'profiles.json');
const stored = { current: 'shop', profiles: { shop: { url: 'https://shop.example', key: 'k' } } };
beforeEach(() => rmSync(path.dirname(file), { recursive: true, force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

describe('profiles', () => {
  it('are in the folder of the settings of the user', () => {
    const inside = (base: string) => path.join(base, 'flotilla', 'profiles.json');
    expect(profileFile({ XDG_CONFIG_HOME: '/etc/people' }, 'linux')).toBe(inside('/etc/people'));
    expect(profileFile({ XDG_CONFIG_HOME: 'relative' }, 'linux')).toBe(inside(path.join(homedir(), '.config')));
    expect(profileFile({ APPDATA: '/roaming', XDG_CONFIG_HOME: '/other' }, 'win32')).toBe(inside('/roaming'));
  });

  it('are empty before the first login', () => expect(readProfiles(file).profiles).toEqual({}));

  it('are written to a file that only the owner can read', () => {
    writeProfiles(file, stored);
    writeProfiles(file, stored);
    expect([statSync(path.dirname(file)).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readdirSync(path.dirname(file))).toEqual(['profiles.json']);
    expect(readProfiles(file)).toEqual(stored);
  });

  it('warn if other users can read the keys', async () => {
    writeProfiles(file, stored);
    chmodSync(file, 0o644);
    const { result, stderr } = await captured(() => readProfiles(file));
    expect([result, stderr]).toEqual([stored, `Other users can read the keys in ${file}. Run: chmod 600 ${file}\n`]);
  });

  it.each(['not json', '[]', '{"profiles":{"shop":{"url":7}}}'])('name a damaged file: %s', (content) => {
    mkdirSync(path.dirname(file));
    writeFileSync(file, content, { mode: 0o600 });
    expect(() => readProfiles(file)).toThrow(file);
  });
});
