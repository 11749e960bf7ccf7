import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../registry-logger.js';
import { SpillFile } from './spill-file.js';

const textIn = (line: unknown) => (typeof line === 'string' ? line : undefined);

type Spill = SpillFile<string>;

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

it('is shared by processes: each drains what it finds, none takes the file of another', async () => {
  const file = path.join(folder, 'events');
  const [one, other] = [1, 2].map(() => new SpillFile<string>(file, 1_000, silentLogger)) as [Spill, Spill];
  one.add('a');
  other.add('b');
  await Promise.all([one.close(), other.close()]);
  const taken: string[] = [];
  await one.drain(textIn, async (row) => {
    if (taken.length === 0) other.add('later');
    taken.push(row);
    await other.drain(textIn, async (later) => void taken.push(later));
  });
  for (const spill of [one, other]) await spill.drain(textIn, async (row) => void taken.push(row));
  expect([...taken].sort()).toEqual(['a', 'b', 'later']);
  expect([one.isEmpty, other.isEmpty]).toEqual([true, true]);
});

it('is not empty while it has rows, also after it drained more rows of another process', async () => {
  const file = path.join(folder, 'events');
  const [one, other] = [1, 2].map(() => new SpillFile<string>(file, 1_000, silentLogger)) as [Spill, Spill];
  one.add('a');
  other.add('a long row of the other process');
  await Promise.all([one.close(), other.close()]);
  const taken: string[] = [];
  await one.drain(textIn, async (row) => {
    if (taken.push(row) === 1) one.add('later');
  });
  expect(one.isEmpty).toBe(false);
  await one.drain(textIn, async (row) => void taken.push(row));
  expect(taken).toContain('later');
  expect(one.isEmpty).toBe(true);
});

it('finds at its start what drains before left, in a folder that it makes if it must', async () => {
  const file = path.join(folder, 'made', 'events');
  const former = new SpillFile<string>(file, 1_000, silentLogger);
  former.add('a');
  await expect(former.drain(textIn, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  former.add('b');
  await former.close();
  // As a former version named it.
  await writeFile(`${file}.reading`, '"c"\n');
  const next = new SpillFile<string>(file, 1_000, silentLogger);
  await next.open();
  const taken: string[] = [];
  await next.drain(textIn, async (row) => void taken.push(row));
  expect([...taken].sort()).toEqual(['a', 'b', 'c']);
  expect(next.isEmpty).toBe(true);
});

it('reports rows that it could not write', async () => {
  const lost: number[] = [];
  await writeFile(path.join(folder, 'file'), '');
  const spill = new SpillFile<string>(path.join(folder, 'file', 'events'), 1_000, silentLogger, (rows) =>
    lost.push(rows),
  );
  spill.add('a');
  spill.add('b');
  await spill.close();
  expect(lost.reduce((sum, rows) => sum + rows, 0)).toBe(2);
  expect(spill.isEmpty).toBe(true);
});
