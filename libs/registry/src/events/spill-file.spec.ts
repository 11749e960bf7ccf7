import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../registry-logger.js';
import { SpillFile } from './spill-file.js';

const textIn = (line: unknown) => (typeof line === 'string' ? line : undefined);

let folder: string;

beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), 'flotilla-spill-'))));
afterEach(() => rm(folder, { recursive: true }));

it('knows of a row that comes during a drain of text that is not ASCII', async () => {
  const spill = new SpillFile<string>(path.join(folder, 'events'), 1_000, silentLogger);
  const taken: string[] = [];
  spill.add('灯'.repeat(20));
  await spill.drain(textIn, async (row) => {
    taken.push(row);
    spill.add('later');
  });
  expect(spill.isEmpty).toBe(false);
  await spill.drain(textIn, async (row) => void taken.push(row));
  expect(taken).toEqual(['灯'.repeat(20), 'later']);
  expect(spill.isEmpty).toBe(true);
});

it('limits the bytes of the file', async () => {
  const spill = new SpillFile<string>(path.join(folder, 'events'), 10, silentLogger);
  expect(spill.add('灯灯灯')).toBe(false);
  expect(spill.add('灯灯')).toBe(true);
  await spill.close();
});
