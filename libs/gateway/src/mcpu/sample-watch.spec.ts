/** Polls of microcontrollers, with sessions that answer as a spec requests, on a manual clock. */
import type { DevicePin } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import type { Session, SessionCall, SettledCall } from '@flotilla/session';
import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayCounters } from '../gateway-counters.js';
import { defaultGatewayLimits } from '../gateway-limits.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { Report } from '../measurements/measurement-recorder.js';
import { planPolls } from './poll-plan.js';
import { SampleWatch } from './sample-watch.js';
import type { SampleWatchOptions } from './sample-watch.js';

const soil: DevicePin = {
  pin: 36,
  name: 'soil',
  type: 'adc_input',
  description: '',
  sampling: { intervalMs: 1_000, bufferSize: 60 },
};
const toolOf = (name: string, pollingIntervalMs?: number) => ({
  name,
  description: '',
  inputSchema: {},
  userOnly: false,
  schemaKnown: true,
  ...(pollingIntervalMs === undefined ? {} : { pollingIntervalMs }),
});
const toolSet = {
  hash: 'a',
  tools: [toolOf('get_pin_buffer'), toolOf('leaf_wetness', 5_000), toolOf('greedy', 1)],
  pins: [soil, { ...soil, pin: 37, sampling: undefined }],
} as unknown as ToolSet;

let now: number;
let timers: { at: number; run: () => void }[];
const clock = {
  now: () => now,
  setTimer: (ms: number, run: () => void) => {
    const timer = { at: now + ms, run };
    timers.push(timer);
    return () => void (timers = timers.filter((other) => other !== timer));
  },
};

beforeEach(() => {
  now = 1_000_000;
  timers = [];
});

function pass(ms: number): void {
  for (const until = now + ms; ;) {
    const next = timers.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
    if (next === undefined) return void (now = until);
    timers = timers.filter((other) => other !== next);
    now = next.at;
    next.run();
  }
}

type Answer =
  { readonly kind: 'UNKNOWN' | 'NOT_SENT'; readonly code?: string } | { readonly result: unknown } | 'never';

function board(answer: (call: SessionCall) => Answer, tools: ToolSet | undefined = toolSet, { pendingCalls = 0 } = {}) {
  const calls: SessionCall[] = [];
  const events: Readonly<Record<string, unknown>>[] = [];
  const closed: string[] = [];
  const session = {
    deviceId: 'greenhouse-1' as never,
    toolSet: tools,
    record: { event: (_type: string, data: Readonly<Record<string, unknown>>) => void events.push(data) },
    close: (reason: string) => void closed.push(reason),
    session: {
      state: 'ready',
      pendingCalls,
      enqueue: (call: SessionCall, settle: (settled: SettledCall) => void) => {
        calls.push(call);
        const given = answer(call);
        if (given !== 'never') settle(settledOf(given));
      },
    } as unknown as Session,
  };
  return {
    calls,
    events,
    closed,
    session,
    asked: (tool: string) => calls.filter((call) => call.tool === tool).length,
  };
}

function settledOf(given: Exclude<Answer, 'never'>): SettledCall {
  const outcome =
    'kind' in given
      ? { kind: given.kind, error: { code: given.code ?? 'TIMEOUT', message: '' } }
      : {
          kind: 'SUCCEEDED',
          result: { isError: false, content: [{ type: 'text', text: JSON.stringify(given.result) }] },
        };
  return { callId: 'c', outcome, settledAt: now } as unknown as SettledCall;
}

function watch(
  limits: Partial<GatewayLimits> = {},
  counters = new GatewayCounters(),
  measurements?: SampleWatchOptions['measurements'],
): SampleWatch {
  const made = new SampleWatch({
    clock,
    counters,
    measurements,
    limits: { ...defaultGatewayLimits, ...limits },
  });
  made.start();
  return made;
}

describe('planPolls', () => {
  it('uses the intervals of the firmware within limits, and reads rings before they are full', () => {
    expect(
      planPolls(toolSet, defaultGatewayLimits).map(({ tool, arguments: args, everyMs }) => [tool, args, everyMs]),
    ).toEqual([
      ['leaf_wetness', {}, 5_000],
      ['greedy', {}, 1_000],
      ['get_pin_buffer', { pin: 36 }, 45_000],
    ]);
    expect(planPolls(toolSet, { ...defaultGatewayLimits, pollsPerDeviceMax: 1 })).toHaveLength(1);
  });
});

describe('SampleWatch', () => {
  it('polls at the requested periods, only in the background', () => {
    const { session, calls, asked } = board(() => ({ result: 1 }));
    watch().add(session);
    pass(60_000);
    expect(asked('leaf_wetness')).toBeGreaterThanOrEqual(11);
    expect(asked('leaf_wetness')).toBeLessThanOrEqual(12);
    expect(asked('greedy')).toBeLessThanOrEqual(60);
    expect(asked('get_pin_buffer')).toBe(1);
    expect(calls.every(({ isBackground }) => isBackground === true)).toBe(true);
  });

  it('goes on when the clock is set back', () => {
    const { session, asked } = board(() => ({ result: 1 }));
    watch().add(session);
    pass(10_000);
    now -= 900_000;
    for (const timer of timers) timer.at -= 900_000;
    const before = asked('leaf_wetness');
    pass(30_000);
    expect(asked('leaf_wetness') - before).toBeGreaterThanOrEqual(4);
  });

  it('reports each sample of a ring once', () => {
    const taken = () => Math.floor((now - 1_000_000) / 1_000);
    const values = () => Array.from({ length: taken() }, (_, at) => at).slice(-60);
    const { session, events } = board(({ tool }) => ({
      result: tool === 'get_pin_buffer' ? { pin: 'soil', count: 60, values: values() } : 1,
    }));
    watch().add(session);
    pass(200_000);
    const reports = events.filter(({ pin }) => pin === 36);
    expect(reports).toHaveLength(4);
    expect(reports[1]).toMatchObject({ pin: 36, name: 'soil', intervalMs: 1_000 });
    const all = reports.flatMap(({ values: samples }) => samples as number[]);
    expect(all).toEqual(Array.from({ length: all.length }, (_, at) => at));
  });

  it('reads a ring as soon as the board is free, and not a whole period later', () => {
    const taken = () => Math.floor((now - 1_000_000) / 1_000);
    const values = () => Array.from({ length: taken() }, (_, at) => at).slice(-60);
    // Another call is under way when the first poll is due, after 45 s.
    const isBusy = () => now < 1_000_000 + 46_000;
    const { session, events } = board(({ tool }) => {
      if (isBusy()) return { kind: 'NOT_SENT', code: 'OVERLOADED' };
      return { result: tool === 'get_pin_buffer' ? { pin: 'soil', count: 60, values: values() } : 1 };
    });
    watch({ idleProbeMs: 600_000 }).add(session);
    pass(100_000);
    const reports = events.filter(({ pin }) => pin === 36);
    expect(reports.some(({ gap }) => gap === true)).toBe(false);
    const all = reports.flatMap(({ values: samples }) => samples as number[]);
    expect(all.length).toBeGreaterThan(85);
    expect(all).toEqual(Array.from({ length: all.length }, (_, at) => at));
  });

  it('loses no sample of a ring if other tools use up the events, and counts the values that get none', () => {
    const taken = () => Math.floor((now - 1_000_000) / 1_000);
    const values = () => Array.from({ length: taken() }, (_, at) => at).slice(-60);
    const tools = [toolOf('get_pin_buffer'), ...['one', 'two', 'three'].map((name) => toolOf(name, 1_000))];
    const { session, events } = board(
      ({ tool }) => ({ result: tool === 'get_pin_buffer' ? { pin: 'soil', count: 60, values: values() } : 1 }),
      { ...toolSet, tools } as unknown as ToolSet,
    );
    const counters = new GatewayCounters();
    watch({}, counters).add(session);
    pass(600_000);
    const all = events.filter(({ pin }) => pin === 36).flatMap(({ values: samples }) => samples as number[]);
    expect(all.length).toBeGreaterThan(500);
    expect(all).toEqual(Array.from({ length: all.length }, (_, at) => at));
    const dropped = counters.list().find(({ name }) => name === 'anomaly_samples_dropped')?.count ?? 0;
    expect(dropped).toBeGreaterThan(1_000);
  });

  it('records all samples of rings as measurements if they have too few events, and counts the others', () => {
    const quick = [36, 37].map((pin) => ({
      ...soil,
      pin,
      name: `ring-${pin}`,
      sampling: { intervalMs: 100, bufferSize: 16 },
    }));
    const taken = () => Math.floor((now - 1_000_000) / 100);
    const { session, events } = board(
      () => ({ result: { count: 16, values: Array.from({ length: taken() }, (_, at) => at).slice(-16) } }),
      { ...toolSet, tools: [toolOf('get_pin_buffer')], pins: quick } as unknown as ToolSet,
    );
    const counters = new GatewayCounters();
    const measured: string[] = [];
    const measurements = {
      wants: () => true,
      take: ({ numbers }: Report) => void measured.push(...numbers.map(({ path, value }) => `${path} ${value}`)),
    };
    watch({}, counters, measurements).add(session);
    pass(600_000);
    expect(measured.length).toBeGreaterThan(2 * 5_900);
    expect(new Set(measured).size).toBe(measured.length);
    const dropped = counters.list().find(({ name }) => name === 'anomaly_samples_dropped')?.count ?? 0;
    expect(dropped).toBeGreaterThan(100);
    // A full bucket, as much debt, and one per second.
    expect(events.length).toBeLessThanOrEqual(60 + 60 + 600);
  });

  it('gives no turn to boards with a call, which others would lack', () => {
    const busy = Array.from({ length: 3 }, () => board(() => 'never', toolSet, { pendingCalls: 1 }));
    const idle = board(() => ({ result: 1 }));
    const samples = watch({ pollCallsMax: 3 });
    for (const { session } of [...busy, idle]) samples.add(session);
    pass(20_000);
    expect(busy.flatMap(({ calls }) => calls)).toEqual([]);
    expect(idle.asked('leaf_wetness')).toBeGreaterThanOrEqual(3);
  });

  it('does not repeat a poll at once that cannot be sent at all', () => {
    const { session, asked } = board(() => ({ kind: 'NOT_SENT', code: 'REQUEST_TOO_LARGE' }));
    watch({ idleProbeMs: 600_000 }).add(session);
    pass(60_000);
    expect(asked('leaf_wetness')).toBeLessThanOrEqual(12);
  });

  it('reports a series under its own name, and other values unchanged, within limits', () => {
    const series = {
      type: 'buffer',
      resource: 'wetness',
      sample_interval_ms: 500,
      values: Array.from({ length: 500 }, (_, at) => at),
    };
    const { session, events } = board(({ tool }) => ({ result: tool === 'leaf_wetness' ? series : 'x'.repeat(5_000) }));
    watch().add(session);
    pass(6_000);
    expect(events).toContainEqual({
      tool: 'leaf_wetness',
      resource: 'wetness',
      intervalMs: 500,
      values: series.values.slice(100),
      dropped: 100,
    });
    expect(events).toContainEqual({ tool: 'greedy', truncated: true });
    pass(600_000);
    // A full bucket, then one per second.
    expect(events.length).toBeLessThanOrEqual(60 + 606);
  });

  it('probes a silent board, and disconnects it after two probes without an answer', () => {
    const { session, asked, closed } = board(() => ({ kind: 'UNKNOWN' }), undefined);
    const samples = watch();
    samples.add(session);
    pass(29_000);
    samples.settled(session, settledOf({ result: 1 }));
    pass(29_000);
    expect(asked('get_info')).toBe(0);
    pass(3_000);
    expect(closed[0]).toBe('unresponsive');
  });

  it('does not treat a busy board as silent', () => {
    const { session, asked, closed } = board(() => ({ kind: 'NOT_SENT' }), undefined);
    watch().add(session);
    pass(60_000);
    expect(asked('get_info')).toBeGreaterThan(0);
    expect(closed).toEqual([]);
  });

  it('sends one poll to a board at a time, and polls a limited number of boards', () => {
    const boards = Array.from({ length: 5 }, () => board(() => 'never'));
    const samples = watch({ pollCallsMax: 3 });
    for (const { session } of boards) samples.add(session);
    pass(20_000);
    expect(boards.map(({ calls }) => calls.length).sort()).toEqual([0, 0, 1, 1, 1]);
  });
});
