/**
 * What traces cost: two hubs side by side, one records 1 % of its calls and sends them to a
 * collector. They take turns, so that the speed of the machine changes both. Of two equal hubs the
 * one that was started first uses up to 5 % more, so each of them is first in half of the pairs.
 * `--only traces`.
 */
import { TraceCollector } from '@flotilla/test/hub/trace-collector';
import { callOverHttp } from '../http-calls.js';
import type { Figure } from '../report.js';
import { processorMicroseconds } from '../scale/processor-time.js';
import { connectDevices, withHub, type BenchHub } from './bench-hub.js';

const DEVICES = 200;
const CALLS = 4_000;
const CONCURRENCY = 64;
/** Pairs of fresh hubs. */
const PAIRS = 4;
/** Each hub answers `CALLS` calls per round; rounds before are not counted. */
const ROUNDS = 11;
const WARM_UP = 4;

interface Cost {
  /** Microseconds of the hub's processor time for each call. */
  readonly without: number;
  /** Percent. */
  readonly more: number;
}

export async function benchTracedCalls(): Promise<readonly Figure[]> {
  const collector = new TraceCollector();
  await collector.listen();
  const settings = { FLOTILLA_TRACES_URL: collector.url, FLOTILLA_TRACES_SAMPLE: '0.01' };
  const costs: Cost[] = [];
  try {
    for (let pair = 0; pair < PAIRS; pair++)
      costs.push(
        pair % 2 === 0
          ? await withHub((traced) => withHub((plain) => compare(plain, traced)), settings)
          : await withHub((plain) => withHub((traced) => compare(plain, traced), settings)),
      );
  } finally {
    await collector.close();
  }
  const recorded = collector.spans.filter(({ name }) => name === 'call').length;
  if (recorded === 0) throw new Error('No trace arrived; the figure says nothing.');
  const calls = CALLS * (ROUNDS + WARM_UP) * PAIRS;
  return [
    { name: 'traces: processor time of a call without them', value: mean(costs.map((c) => c.without)), unit: 'µs' },
    {
      ...{ name: 'traces: more of it when 1 % of calls are recorded', value: mean(costs.map(({ more }) => more)) },
      ...{ unit: '%', atMost: 3 },
    },
    { name: 'traces: recorded calls', value: (recorded * 100) / calls, unit: '%' },
  ];
}

async function compare(plain: BenchHub, traced: BenchHub): Promise<Cost> {
  const sides = [
    { ...plain, ...(await connectDevices(plain.hub, DEVICES)) },
    { ...traced, ...(await connectDevices(traced.hub, DEVICES)) },
  ];
  const more: number[] = [];
  const costs: number[] = [];
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const spent = [0, 0];
      // Every other round begins with the other hub.
      for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) spent[side] = await costOfCalls(sides[side]);
      const [without = NaN, withTraces = NaN] = spent;
      if (round < 0) continue;
      costs.push(without);
      more.push((withTraces / without - 1) * 100);
    }
  } finally {
    for (const { fleet } of sides) await fleet.stop();
  }
  return { without: median(costs), more: median(more) };
}

/** Microseconds of the hub's processor time for each call. */
async function costOfCalls(side: (BenchHub & { readonly ids: readonly string[] }) | undefined): Promise<number> {
  if (side === undefined) return NaN;
  const { hub, ids } = side;
  const before = processorMicroseconds([hub.pid]);
  await callOverHttp(hub, ids, { total: CALLS, concurrency: CONCURRENCY });
  return (processorMicroseconds([hub.pid]) - before) / CALLS;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
