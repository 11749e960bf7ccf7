import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepSecret } from './secret-file.js';

let folder: string;

beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), 'flotilla-secret-'))));
afterEach(() => rm(folder, { recursive: true }));

it('makes a secret once, in a file of its owner', async () => {
  const made = await keepSecret(folder, 'device.secret');
  expect(made).toMatch(/^[\w-]{43}$/);
  expect(await keepSecret(folder, 'device.secret')).toBe(made);
  expect((await stat(path.join(folder, 'device.secret'))).mode & 0o777).toBe(0o600);
});

it('gives all that start at once the same secret, and leaves no other files', async () => {
  const found = await Promise.all(Array.from({ length: 50 }, () => keepSecret(folder, 'device.secret')));
  expect(new Set(found)).toEqual(new Set([(await readFile(path.join(folder, 'device.secret'), 'utf8')).trim()]));
  expect(await readdir(folder)).toEqual(['device.secret']);
});

it('refuses an empty file, as a full disk leaves it: anyone could sign with it', async () => {
  await writeFile(path.join(folder, 'device.secret'), '\n');
  await expect(keepSecret(folder, 'device.secret')).rejects.toMatchObject({
    code: 'SECRET_EMPTY',
    message: expect.stringContaining('device.secret'),
  });
});

it('says what to do about a data folder that it cannot use', async () => {
  await writeFile(path.join(folder, 'file'), '');
  await expect(keepSecret(path.join(folder, 'file'), 'device.secret')).rejects.toMatchObject({
    code: 'DATA_FOLDER_UNUSABLE',
    message: expect.stringContaining('FLOTILLA_DATA_DIR'),
  });
  await mkdir(path.join(folder, 'device.secret'));
  await expect(keepSecret(folder, 'device.secret')).rejects.toMatchObject({ code: 'DATA_FOLDER_UNUSABLE' });
});
