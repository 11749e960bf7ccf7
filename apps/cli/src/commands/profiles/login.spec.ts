import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { captured } from '../../console/captured-output.suite.js';
import { profileFile, readProfiles } from '../../profiles/profile-store.js';
import { programOf } from '../../program.js';
import { startSchemaHub } from '../../schema-hub.suite.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'flotilla-login-'));
  for (const name of ['XDG_CONFIG_HOME', 'APPDATA']) vi.stubEnv(name, folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  process.exitCode = undefined;
  rmSync(folder, { recursive: true });
});

const login = (...words: string[]) => captured(() => programOf(['login', ...words]).parseAsync());

describe('a login with a key in its options', () => {
  it('stores this key, and asks for none', async () => {
    const hub = await startSchemaHub();
    onTestFinished(() => hub.close());
    const file = path.join(folder, 'key.txt');
    writeFileSync(file, 'of-the-file\n');
    for (const [key, words] of Object.entries({ 'of-the-file': ['--key-file', file], given: ['--key', 'given'] })) {
      await login(hub.url, ...words);
      expect(readProfiles(profileFile()).profiles).toEqual({ default: { url: hub.url, key } });
    }
  });

  it('takes no second key', async () => {
    await expect(login('http://hub.example', '--key', 'given', '--with-key')).rejects.toThrow('Give the key once.');
  });
});
