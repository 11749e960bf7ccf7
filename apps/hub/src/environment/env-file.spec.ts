import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadEnvFile } from './env-file.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-env-'));
});
afterEach(() => {
  delete process.env['FLOTILLA_TEST_READ'];
  delete process.env['FLOTILLA_TEST_SET'];
  return rm(folder, { recursive: true });
});

it('sets what is not set already', async () => {
  process.env['FLOTILLA_TEST_SET'] = 'kept';
  await writeFile(path.join(folder, '.env'), 'FLOTILLA_TEST_READ=read\nFLOTILLA_TEST_SET=replaced\n');
  loadEnvFile(path.join(folder, '.env'));
  expect(process.env).toMatchObject({ FLOTILLA_TEST_READ: 'read', FLOTILLA_TEST_SET: 'kept' });
});

it('reads the first name of a file with a byte order mark and line ends of Windows', async () => {
  await writeFile(path.join(folder, '.env'), '\ufeffFLOTILLA_TEST_READ=read\r\nFLOTILLA_TEST_SET=too\r\n');
  loadEnvFile(path.join(folder, '.env'));
  expect(process.env).toMatchObject({ FLOTILLA_TEST_READ: 'read', FLOTILLA_TEST_SET: 'too' });
});

it('does nothing without a file, and says what to do about one that cannot be read', async () => {
  const file = path.join(folder, '.env');
  loadEnvFile(file);
  await mkdir(file);
  expect(() => loadEnvFile(file)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/\.env cannot be read: EISDIR.*or remove it/),
    }),
  );
});
