import type { HubProcessId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { silent } from '../fleet-fixture.suite.js';
import { ProcessWatch } from './process-watch.js';

const [dead, living] = ['dead', 'living'] as unknown as readonly [HubProcessId, HubProcessId];

type Answer = ReadonlySet<HubProcessId> | undefined | 'away';

function watch(awaited: readonly HubProcessId[]) {
  const clock = new ManualClock(0);
  const stage = { answer: new Set([living]) as Answer, looks: 0, awaited, ended: [] as HubProcessId[] };
  const registry = {
    livingProcesses: async () => {
      stage.looks += 1;
      if (stage.answer === 'away') throw new TypeError('away');
      return stage.answer;
    },
  };
  const processes = new ProcessWatch({ registry, clock, logger: silent });
  const remove = processes.add({ awaited: () => stage.awaited, ended: (id) => stage.ended.push(id) });
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second += 1) {
      clock.advance(1_000);
      // The look ends in later turns.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { stage, processes, remove, seconds };
}

describe('the watch of processes', () => {
  it('reports a process without a lease after three seconds, and no living one', async () => {
    const { stage, seconds } = watch([dead, living]);
    await seconds(2);
    expect(stage.ended).toEqual([]);
    await seconds(1);
    expect(stage.ended).toEqual([dead]);
  });

  it('queries nothing while nothing waits', async () => {
    const { stage, seconds, remove } = watch([]);
    await seconds(5);
    expect(stage.looks).toBe(0);
    stage.awaited = [dead];
    await seconds(1);
    expect(stage.looks).toBe(1);
    remove();
    await seconds(5);
    expect(stage.looks).toBe(1);
  });

  it.each<[string, Answer]>([
    ['PostgreSQL is away', 'away'],
    ['its own lease was just revived', undefined],
    ['the process has renewed its lease', new Set([dead])],
  ])('begins to count again when %s', async (_what, answer) => {
    const { stage, seconds } = watch([dead]);
    await seconds(2);
    stage.answer = answer;
    await seconds(1);
    stage.answer = new Set([living]);
    await seconds(2);
    expect(stage.ended).toEqual([]);
    await seconds(1);
    expect(stage.ended).toEqual([dead]);
  });
});
