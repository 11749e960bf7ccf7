/**
 * What recorded traces cost, in one hub that records 1 % of its calls and sends them to a
 * collector. Rounds of calls that it may record alternate with rounds of calls that continue a
 * trace of their caller which is not recorded. Two hubs side by side differ by up to 10 % without
 * any traces, so they are not compared. `--only traces`.
 */
import { TraceCollector } from '@flotilla/test/hub/trace-collector';
import { callOverHttp } from '../http-calls.js';
import type { Figure } from '../report.js';
import { processorMicroseconds } from '../scale/processor-time.js';
import { connectDevices, withHub, type BenchHub } from './bench-hub.js';

const DEVICES = 200;
const CALLS = 4_000;
const CONCURRENCY = 64;
/** Each of `CALLS` calls of both kinds; rounds before are not counted. */
const ROUNDS = 40;
const WARM_UP = 5;

/** `traceparent` of W3C Trace Context with the flag "not sampled". */
const NOT_RECORDED = `00-${'4bf92f3577b34da6'.repeat(2)}-00f067aa0ba902b7-00`;
/** As long, and with an invalid version: the hub ignores it, and records its share of the calls. */
const IGNORED = `ff${NOT_RECORDED.slice(2)}`;

export async function benchTracedCalls(): Promise<readonly Figure[]> {
  const collector = new TraceCollector();
  await collector.listen();
  try {
    const settings = { FLOTILLA_TRACES_URL: collector.url, FLOTILLA_TRACES_SAMPLE: '0.01' };
    return await withHub((opened) => compare(opened, collector), settings);
  } finally {
    await collector.close();
  }
}

async function compare({ hub }: BenchHub, collector: TraceCollector): Promise<readonly Figure[]> {
  const { fleet, ids } = await connectDevices(hub, DEVICES);
  const costs: number[] = [];
  const more: number[] = [];
  /** Microseconds of the hub's processor time for each call. */
  const costOf = async (traceparent: string) => {
    const before = processorMicroseconds([hub.pid]);
    await callOverHttp(hub, ids, { total: CALLS, concurrency: CONCURRENCY, headers: { traceparent } });
    return (processorMicroseconds([hub.pid]) - before) / CALLS;
  };
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      // Every other round begins with the other kind.
      const first = await costOf(round % 2 === 0 ? NOT_RECORDED : IGNORED);
      const second = await costOf(round % 2 === 0 ? IGNORED : NOT_RECORDED);
      const [without, recorded] = round % 2 === 0 ? [first, second] : [second, first];
      if (round < 0) continue;
      costs.push(without);
      more.push((recorded / without - 1) * 100);
    }
  } finally {
    await fleet.stop();
  }
  const calls = collector.spans.filter(({ name }) => name === 'call').length;
  if (calls === 0) throw new Error('No trace arrived; the figure says nothing.');
  return [
    { name: 'traces: processor time of a call that is not recorded', value: median(costs), unit: 'µs' },
    { name: 'traces: more of it when 1 % of calls are recorded', value: median(more), unit: '%', atMost: 3 },
    { name: 'traces: recorded calls', value: (calls * 100) / (CALLS * (ROUNDS + WARM_UP)), unit: '%' },
  ];
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}
