import { describe, expect, it } from 'vitest';
import { captured } from './captured-output.suite.js';
import { printRows, printThing, type Column } from './output.js';

interface Lamp {
  readonly id: string;
  readonly name: string | null;
  readonly tags: readonly string[];
}

const columns: readonly Column<Lamp>[] = [
  { head: 'ID', of: ({ id }) => id },
  { head: 'NAME', of: ({ name }) => name },
  { head: 'TAGS', of: ({ tags }) => tags },
];
const lamps: readonly Lamp[] = [
  { id: '1', name: 'Left\u001b[31m', tags: ['hall', 'red'] },
  { id: '22', name: null, tags: [] },
];

describe('rows', () => {
  it('are a table with heads, escaped texts and no trailing spaces', async () => {
    const { stdout, stderr } = await captured(() => printRows(lamps, columns, {}));
    expect(stdout.split('\n')).toEqual([
      'ID  NAME       TAGS',
      '1   Left\ufffd[31m  hall, red',
      '22  -          -',
      '',
    ]);
    expect(stderr).toBe('');
  });

  it('are one line of JSON each for programs, with all fields', async () => {
    const { stdout } = await captured(() => printRows(lamps, [], { json: true }));
    expect(stdout).not.toContain('\u001b');
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(lamps);
  });

  it('are printed in blocks of 500, each with its heads', async () => {
    const many = Array.from({ length: 501 }, (_none, index) => ({ id: `${index}`, name: null, tags: [] }));
    const { stdout } = await captured(() => printRows(many, columns, {}));
    expect(stdout.split('\n').filter((line) => line.startsWith('ID'))).toHaveLength(2);
    expect(stdout.trimEnd().split('\n')).toHaveLength(503);
  });

  it('that are missing are a message for people and nothing for programs', async () => {
    expect(await captured(() => printRows([], columns, {}))).toMatchObject({ stdout: '', stderr: 'Nothing found.\n' });
    expect(await captured(() => printRows([], columns, { json: true }))).toMatchObject({ stdout: '', stderr: '' });
  });
});

describe('one thing', () => {
  it('is a list of its fields, or one line of JSON', async () => {
    const thing = { id: 'a', count: 3, nothing: null, data: { b: [1] } };
    const { stdout } = await captured(() => printThing(thing, {}));
    expect(stdout.split('\n')).toEqual(['id       a', 'count    3', 'nothing  -', 'data     {"b":[1]}', '']);
    expect((await captured(() => printThing(thing, { json: true }))).stdout).toBe(`${JSON.stringify(thing)}\n`);
  });
});
