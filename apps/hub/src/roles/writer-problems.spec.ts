import type { HubProcessId } from '@flotilla/mcp';
import type { ProcessWriters } from '@flotilla/registry';
import { expect, it } from 'vitest';
import { WriterProblems } from './writer-problems.js';

const process = (id: string, writers: ProcessWriters['writers']): ProcessWriters => ({
  id: id as HubProcessId,
  host: id,
  pid: 7,
  writers,
});
const calls = (lagMs: number, droppedTotal = 0) => ({ name: 'call', lagMs, droppedTotal });
const lost = 'a writer dropped rows that it could not store';

it('names a writer that does not keep up', () => {
  const problems = new WriterProblems();
  expect(problems.among([process('hub', [calls(30_000)])], 0)).toEqual([]);
  expect(problems.among([process('hub', [calls(31_000)])], 0)).toEqual([
    { name: 'writer call', reason: 'the writer "call" is 31 s behind' },
  ]);
});

it('names the process that is furthest behind, once for each writer', () => {
  const processes = [process('worker', []), process('east', [calls(40_000)]), process('west', [calls(50_000)])];
  expect(new WriterProblems().among(processes, 0)).toEqual([
    { name: 'writer call', reason: 'the writer "call" is 50 s behind (process 7 on west)' },
  ]);
});

it('reports lost rows of any process for ten minutes, and not those from before its first look', () => {
  const problems = new WriterProblems();
  const [worker, old] = [process('worker', []), process('west', [calls(0, 5)])];
  expect(problems.among([worker, old], 0)).toEqual([]);
  expect(problems.among([worker, old, process('east', [calls(0, 1)])], 1_000)).toEqual([
    { name: 'dropped rows', reason: `${lost} (process 7 on east)` },
  ]);
  expect(problems.among([worker, old], 600_000)).toHaveLength(1);
  expect(problems.among([worker, old], 601_000)).toEqual([]);
  expect(problems.among([process('west', [calls(0, 6)])], 602_000)).toEqual([{ name: 'dropped rows', reason: lost }]);
});
