import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
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

  it('asks a person for the address that is missing', async () => {
    const hub = await startSchemaHub();
    onTestFinished(() => hub.close());
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(terminal as unknown as typeof process.stdin);
    onTestFinished(() => stdin.mockRestore());
    terminal.write(`${hub.url}\n`);
    const { stderr } = await login('--key', 'given');
    expect(stderr).toContain('Address of the hub [http://127.0.0.1:8080]: ');
    expect(readProfiles(profileFile()).profiles).toEqual({ default: { url: hub.url, key: 'given' } });
  });

  it('takes no second key', async () => {
    await expect(login('http://hub.example', '--key', 'given', '--with-key')).rejects.toThrow('Give the key once.');
  });
});

it('a login without a terminal and without a key names both ways to give one', async () => {
  const piped = Object.assign(new PassThrough(), { isTTY: false });
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(piped as unknown as typeof process.stdin);
  onTestFinished(() => stdin.mockRestore());
  await expect(login('http://hub.example')).rejects.toThrow(/--key-file <file>, or pipe .* --with-key/);
});
