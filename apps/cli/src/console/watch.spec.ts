import { describe, expect, it } from 'vitest';
import { captured } from './captured-output.suite.js';
import { watchRows } from './watch.js';

/** Watches readings in this order; the last one is interrupted. */
async function watched(readings: readonly (readonly object[])[], options: object) {
  let count = 0;
  async function* read() {
    const rows = readings[count++];
    // The handler of Ctrl-C is that of the command.
    if (rows === undefined) process.emit('SIGINT');
    yield* rows ?? [];
  }
  return captured(() => watchRows<object>(read, [{ key: 'id' }, { key: 'state' }], options, 1));
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

  it('has one head as CSV', async () => {
    expect((await watched(readings, { output: 'csv' })).stdout).toBe('id,state\n1,on\n2,on\n2,off\n');
  });

  it('cannot be one JSON array', async () => {
    await expect(watched(readings, { output: 'json' })).rejects.toThrow('Use jsonl.');
  });
});
