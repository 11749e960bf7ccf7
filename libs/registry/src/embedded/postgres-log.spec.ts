import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLog } from './postgres-log.js';

const isRoot = process.getuid?.() === 0;
const USER = 65_534;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flotilla-log-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Root may write to each file, so it acts as an ordinary user. */
async function asUser(act: () => Promise<void>): Promise<void> {
  if (!isRoot) return act();
  await chown(folder, USER, USER);
  process.seteuid?.(USER);
  try {
    await act();
  } finally {
    process.seteuid?.(0);
  }
}

async function append(text: string): Promise<void> {
  const log = await openLog(path.join(folder, 'postgres.log'));
  await log.write(text);
  await log.close();
}

it('continues the log of the former start', async () => {
  await append('first ');
  await append('second');
  expect(await readFile(path.join(folder, 'postgres.log'), 'utf8')).toBe('first second');
});

it('sets a log aside that it may not continue, and begins another one', async () => {
  await writeFile(path.join(folder, 'postgres.log'), 'of root', { mode: 0o400 });
  await asUser(() => append('of the hub'));
  expect(await readFile(path.join(folder, 'postgres.log'), 'utf8')).toBe('of the hub');
  expect(await readFile(path.join(folder, 'postgres.log.1'), 'utf8')).toBe('of root');
});
