import { describe, expect, it } from 'vitest';
import { captured } from './captured-output.suite.js';
import { watchRows } from './watch.js';

/** Watches readings in this order; the last one is interrupted. */
async function watched(readings: readonly (readonly object[])[], options: object, areMore = false) {
  let count = 0;
  async function* read(onMore: () => void) {
    const rows = readings[count++];
    // The handler of Ctrl-C is that of the command.
    if (rows === undefined) process.emit('SIGINT');
    yield* rows ?? [];
    if (areMore && rows !== undefined) onMore();
  }
  return captured(() =>
    watchRows<object>(read, [{ key: 'id' }, { key: 'state' }], options, { everyMs: 1, more: 'There are more.' }),
  );
}

describe('a watched list', () => {
  const readings = [
    [
      { id: 1, state: 'on' },
      { id: 2, state: 'on' },
    ],
    [
      { id: 1, state: 'on' },
      { id: 2, state: 'off' },
    ],
    [
      { id: 1, state: 'on' },
      { id: 2, state: 'off' },
    ],
  ];

  it('prints new and changed rows once, and ends with the exit code of Ctrl-C', async () => {
    const { result, stdout } = await watched(readings, { json: true });
    expect(result).toBe(130);
    expect(stdout).toBe('{"id":1,"state":"on"}\n{"id":2,"state":"on"}\n{"id":2,"state":"off"}\n');
  });

  it('says once that there are more rows', async () => {
    expect((await watched(readings, { output: 'csv' }, true)).stderr).toBe('There are more.\n');
    const { isTTY } = process.stdout;
    process.stdout.isTTY = true;
    const { stdout } = await watched(readings.slice(0, 1), {}, true).finally(() => (process.stdout.isTTY = isTTY));
    expect(stdout).toMatch(/ID +STATE\n1 +on\n2 +on\nThere are more\.\n/);
  });

  it('has one head as CSV', async () => {
    expect((await watched(readings, { output: 'csv' })).stdout).toBe('id,state\n1,on\n2,on\n2,off\n');
  });

  it('cannot be one JSON array', async () => {
    await expect(watched(readings, { output: 'json' })).rejects.toThrow('Use jsonl.');
  });
});
