/** The contract of the tick queue, for every backend. */
import type { JobId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import type { BusHarness } from '../bus-harness.suite.js';
import type { Tick } from './tick-queue.js';

const jobTick = (id: string): Tick => ({ kind: 'job', jobId: id as JobId });

/** Uses one queue for all tests, because a queue has one kind of worker. */
export function describeTickQueue(harness: BusHarness): void {
  describe(`tick queue (${harness.name})`, () => {
    const worked: Tick[] = [];
    const holds = new Map<string, Promise<void>>();
    const countOf = (id: string): number => worked.filter((tick) => tick.kind === 'job' && tick.jobId === id).length;

    it('processes ticks that were added before a worker started, once each', async () => {
      const { here } = harness.buses();
      await here.ticks.add(jobTick('early'));
      await here.ticks.add(jobTick('early'));
      expect(await here.ticks.depth()).toBe(1);
      await here.ticks.work(async (tick) => {
        worked.push(tick);
        if (tick.kind !== 'job') return;
        await holds.get(tick.jobId);
        if (tick.jobId === 'failing') throw new TypeError('a fault of the worker');
      }, 4);
      await here.ticks.add(jobTick('other'));
      await expect.poll(() => [countOf('early'), countOf('other')], { timeout: 10_000 }).toEqual([1, 1]);
      await expect.poll(() => here.ticks.depth(), { timeout: 10_000 }).toBe(0);
    });

    it('loses no tick that is added while an equal one is processed, and merges several into one', async () => {
      const { here } = harness.buses();
      let release = (): void => undefined;
      holds.set('busy', new Promise((resolve) => (release = resolve)));
      await here.ticks.add(jobTick('busy'));
      await expect.poll(() => countOf('busy'), { timeout: 10_000 }).toBe(1);
      await here.ticks.add(jobTick('busy'));
      await here.ticks.add(jobTick('busy'));
      release();
      await expect.poll(() => countOf('busy'), { timeout: 10_000 }).toBe(2);
      await here.ticks.add(jobTick('after-busy'));
      await expect.poll(() => countOf('after-busy'), { timeout: 10_000 }).toBe(1);
      expect(countOf('busy')).toBe(2);
    });

    it('keeps a delayed tick until it is due, and replaces it with an immediate one', async () => {
      const { here } = harness.buses();
      await here.ticks.add(jobTick('later'), 3_600_000);
      expect(await here.ticks.depth()).toBe(1);
      expect(countOf('later')).toBe(0);
      await here.ticks.add(jobTick('later'));
      await expect.poll(() => countOf('later'), { timeout: 10_000 }).toBe(1);
      await expect.poll(() => here.ticks.depth(), { timeout: 10_000 }).toBe(0);
    });

    it('continues after a tick whose handler failed, without retrying it', async () => {
      const { here } = harness.buses();
      await here.ticks.add(jobTick('failing'));
      await expect.poll(() => countOf('failing'), { timeout: 10_000 }).toBe(1);
      await here.ticks.add(jobTick('after-failing'));
      await expect.poll(() => countOf('after-failing'), { timeout: 10_000 }).toBe(1);
      expect(countOf('failing')).toBe(1);
    });

    it('repeats a tick once per interval, for any number of processes that request it', async () => {
      const { here, there } = harness.buses();
      const sweeps = (): number => worked.filter((tick) => tick.kind === 'sweep').length;
      // From before the request, because the first tick may precede the answers.
      const since = Date.now();
      await Promise.all([here.ticks.repeat({ kind: 'sweep' }, 200), there.ticks.repeat({ kind: 'sweep' }, 200)]);
      await expect.poll(sweeps, { timeout: 10_000 }).toBeGreaterThanOrEqual(5);
      expect(sweeps()).toBeLessThanOrEqual((Date.now() - since) / 200 + 2);
    });

    // The last one, because a queue that rests works no more.
    it('leaves ticks to another process when it rests', async () => {
      const { here, there } = harness.buses();
      await here.ticks.rest();
      const workedThere: string[] = [];
      await there.ticks.work((tick) => {
        if (tick.kind === 'job') workedThere.push(tick.jobId);
        return Promise.resolve();
      }, 4);
      await there.ticks.add(jobTick('handed-over'));
      await expect.poll(() => workedThere, { timeout: 10_000 }).toEqual(['handed-over']);
      expect(countOf('handed-over')).toBe(0);
    });
  });
}
