import { describe, expect, it } from 'vitest';
import { captured } from './captured-output.suite.js';
import { printChanges, printRows, printThing } from './output.js';

interface Lamp {
  readonly id: string;
  readonly name: string | null;
  readonly tags: readonly string[];
}

const columns = ['id', 'name', 'tags'] as const;
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

  it('are one JSON array on request', async () => {
    const { stdout } = await captured(() => printRows(lamps, columns, { output: 'json' }));
    expect(JSON.parse(stdout)).toEqual(lamps);
    expect((await captured(() => printRows([], columns, { output: 'json' }))).stdout).toBe('[]\n');
  });

  it('are CSV with the names of the API, and no cell runs in a spreadsheet', async () => {
    const rows = [...lamps, { id: '=1+1', name: 'a "b", c', tags: [] }];
    const { stdout } = await captured(() => printRows(rows, columns, { output: 'csv' }));
    expect(stdout).toBe('id,name,tags\n1,Left\u001b[31m,hall;red\n22,,\n' + `'=1+1,"a ""b"", c",\n`);
    expect((await captured(() => printRows([], columns, { output: 'csv' }))).stdout).toBe('id,name,tags\n');
  });

  it('have numbers below zero as numbers in CSV, and texts like them escaped', async () => {
    const rows = [{ value: -5.25, text: '-5.25' }];
    const { stdout } = await captured(() => printRows(rows, ['value', 'text'], { output: 'csv' }));
    expect(stdout).toBe("value,text\n-5.25,'-5.25\n");
  });

  it('have no control sequences of devices as CSV on a terminal', async () => {
    const isTerminal = process.stdout.isTTY;
    process.stdout.isTTY = true;
    try {
      const { stdout } = await captured(() => printRows(lamps, columns, { output: 'csv' }));
      expect(stdout).not.toContain('\u001b');
    } finally {
      process.stdout.isTTY = isTerminal;
    }
  });

  it('have the columns that are chosen, in this order', async () => {
    const chosen = { columns: 'Tags, id,size.width' };
    const rows = [{ id: '1', tags: ['hall'], size: { width: 3 } }];
    const { stdout } = await captured(() => printRows(rows, ['id', 'tags'], chosen));
    expect(stdout).toBe('TAGS  ID  SIZE WIDTH\nhall  1   3\n');
    const json = await captured(() => printRows(rows, ['id', 'tags'], { ...chosen, json: true }));
    expect(json.stdout).toBe('{"tags":["hall"],"id":"1","size.width":3}\n');
    await expect(captured(() => printRows(rows, ['id', 'tags'], { columns: 'colour' }))).rejects.toThrow(
      'There is no column "colour". The columns are id, tags, size.',
    );
  });

  it('can have columns from inside of a field that is null in the first row', async () => {
    const rows = [
      { id: '1', error: null },
      { id: '2', error: { code: 'TIMEOUT' } },
    ];
    const printed = (columns: string) => captured(() => printRows(rows, ['id'], { columns, output: 'csv' }));
    expect((await printed('id,error.code')).stdout).toBe('id,error.code\n1,\n2,TIMEOUT\n');
    await expect(printed('id,errors.code')).rejects.toThrow('There is no column "errors.code".');
    await expect(printed('id.code')).rejects.toThrow('There is no column "id.code".');
  });

  it('have relative times for people and absolute ones for programs', async () => {
    const at = new Date(Date.now() - 150_000).toISOString();
    expect((await captured(() => printRows([{ lastSeenAt: at }], ['lastSeenAt'], {}))).stdout).toBe(
      'LAST SEEN\n2m ago\n',
    );
    const csv = await captured(() => printRows([{ lastSeenAt: at }], ['lastSeenAt'], { output: 'csv' }));
    expect(csv.stdout).toBe(`lastSeenAt\n${at}\n`);
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
    const thing = { id: 'a', deviceCount: 3, nothing: null, data: { b: [1] } };
    const { stdout } = await captured(() => printThing(thing, {}));
    expect(stdout.split('\n')).toEqual([
      'id            a',
      'device count  3',
      'nothing       -',
      'data          {"b":[1]}',
      '',
    ]);
    expect((await captured(() => printThing(thing, { json: true }))).stdout).toBe(`${JSON.stringify(thing)}\n`);
  });

  it('is not shown without the scope that reads it, also with chosen fields', async () => {
    const { stdout, stderr } = await captured(() => printThing({}, { columns: 'id' }));
    expect([stdout, stderr]).toEqual(['', 'Done. The key lacks the scope that reads the result.\n']);
    expect((await captured(() => printThing({}, { output: 'json' }))).stdout).toBe('{}\n');
  });

  it('is also an indented JSON document or CSV, with the chosen fields', async () => {
    const thing = { id: 'a', count: 3 };
    expect((await captured(() => printThing(thing, { output: 'json' }))).stdout).toBe(
      '{\n  "id": "a",\n  "count": 3\n}\n',
    );
    expect((await captured(() => printThing(thing, { output: 'csv', columns: 'count' }))).stdout).toBe('count\n3\n');
  });

  it('has one format at a time', async () => {
    await expect(captured(() => printThing({}, { json: true, output: 'csv' }))).rejects.toThrow('--json is short for');
  });
});

describe('the result of a change', () => {
  it('is printed with the chosen columns, or with all if one of them does not exist', async () => {
    const rows = [{ id: 'a', state: 'RUNNING' }];
    const printed = (columns: string) => captured(() => printChanges(rows, ['id', 'state'], { columns, json: true }));
    expect((await printed('id')).stdout).toBe('{"id":"a"}\n');
    expect(await printed('id,status')).toMatchObject({
      stdout: '{"id":"a","state":"RUNNING"}\n',
      stderr: 'There is no column "status". The columns are id, state. All columns are printed instead.\n',
    });
  });
});
