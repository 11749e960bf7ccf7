import { describe, expect, it } from 'vitest';
import { RegistryError } from '../registry-error.js';
import { silentLogger } from '../registry-logger.js';
import { BatchWriter } from './batch-writer.js';
import type { BatchWriterOptions } from './batch-writer.js';

function writerOf(
  write: BatchWriterOptions<string, string>['write'],
  change: Partial<BatchWriterOptions<string, string>> = {},
) {
  return new BatchWriter<string, string>({
    name: 'spec',
    write,
    rowsPerWrite: 100,
    depthMax: 1_000,
    gatherMs: 0,
    logger: silentLogger,
    ...change,
  });
}

const echo = (rows: readonly string[]) => Promise.resolve(rows.map((row) => row.toUpperCase()));
const away = new RegistryError('DATABASE_UNAVAILABLE', 'away');
const refused = new RegistryError('DATABASE_REFUSED', 'bad row');

describe('a batch writer', () => {
  it('writes what arrives together in one statement and gives each row its own result', async () => {
    const batches: number[] = [];
    const writer = writerOf((rows) => {
      batches.push(rows.length);
      return echo(rows);
    });
    expect(await Promise.all(['a', 'b', 'c'].map((row) => writer.add(row)))).toEqual(['A', 'B', 'C']);
    expect(batches).toEqual([3]);
  });

  it('gathers the next batch while one is being written', async () => {
    const batches: (readonly string[])[] = [];
    let finishFirst: () => void = () => undefined;
    const writer = writerOf(async (rows) => {
      batches.push(rows);
      if (batches.length === 1) await new Promise<void>((resolve) => (finishFirst = resolve));
      return echo(rows);
    });
    const first = writer.add('a');
    await expect.poll(() => batches.length).toBe(1);
    const others = [writer.add('b'), writer.add('c')];
    finishFirst();
    await Promise.all([first, ...others]);
    expect(batches).toEqual([['a'], ['b', 'c']]);
  });

  it('keeps rows of one key apart and in order', async () => {
    const batches: (readonly string[])[] = [];
    const writer = writerOf(
      (rows) => {
        batches.push(rows);
        return echo(rows);
      },
      { keyOf: (row) => row.slice(0, 1) },
    );
    await Promise.all(['a1', 'a2', 'b1', 'a3', 'b2'].map((row) => writer.add(row)));
    expect(batches).toEqual([['a1', 'b1'], ['a2', 'b2'], ['a3']]);
  });

  it('waits while PostgreSQL is away and then writes everything', async () => {
    let failures = 2;
    const writer = writerOf((rows) => (failures-- > 0 ? Promise.reject(away) : echo(rows)));
    expect(await Promise.all([writer.add('a'), writer.add('b')])).toEqual(['A', 'B']);
  });

  it('finds the refused row of a batch, and writes all others', async () => {
    const writer = writerOf((rows) => (rows.includes('bad') ? Promise.reject(refused) : echo(rows)));
    const results = await Promise.allSettled(['a', 'b', 'bad', 'c', 'd'].map((row) => writer.add(row)));
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(results[2]).toMatchObject({ reason: refused });
  });

  it('refuses rows past its depth, counts them, and takes rows again when there is room', async () => {
    const writer = writerOf(echo, { depthMax: 2 });
    const taken = [writer.add('a'), writer.add('b')];
    await expect(writer.add('c')).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(writer.status()).toMatchObject({ depth: 2, droppedTotal: 1 });
    await Promise.all(taken);
    expect(await writer.add('d')).toBe('D');
  });

  it('writes what waits on close, and takes nothing after it', async () => {
    const writer = writerOf(echo, { gatherMs: 5 });
    const last = writer.add('a');
    await writer.close();
    expect(await last).toBe('A');
    await expect(writer.add('b')).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('gives up all rows at the deadline of its close, however long a write hangs', async () => {
    let answer: (results: readonly string[]) => void = () => undefined;
    const writer = writerOf(() => new Promise((resolve) => (answer = resolve)), { rowsPerWrite: 1, closeWithinMs: 20 });
    const rows = ['a', 'b', 'c'].map((row) => writer.add(row));
    await writer.close();
    for (const result of await Promise.allSettled(rows))
      expect(result).toMatchObject({ reason: { code: 'DATABASE_UNAVAILABLE' } });
    expect(writer.status()).toMatchObject({ depth: 0, droppedTotal: 3 });
    answer(['A']);
  });
});
