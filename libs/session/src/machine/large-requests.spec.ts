import { describe, expect, it } from 'vitest';
import { initialState } from './machine-state.js';
import { MachineBench } from './machine-bench.suite.js';
import { noLargeRequests } from './machine-state.js';

const TRIAL_MS = 60_000;
const ok = '"result":{"content":[]}';
const large = { arguments: { text: 'x'.repeat(900) }, callTimeoutMs: 1_000 };

/** A session whose transport has this fault. */
function onMqtt(): MachineBench {
  return new MachineBench({ largeRequestBytes: 900, largeRequestTrialMs: TRIAL_MS }).makeReady();
}

function loseLarge(bench: MachineBench, id: string): void {
  bench.call(id, large);
  bench.pass(1_000);
}

function answerSmall(bench: MachineBench, id: string): void {
  bench.call(id);
  bench.answer(ok);
}

function whereTheyAreLost(): MachineBench {
  const bench = onMqtt();
  loseLarge(bench, 'first');
  answerSmall(bench, 'small');
  loseLarge(bench, 'second');
  return bench;
}

const codes = (bench: MachineBench) =>
  bench.settled.map(({ callId, outcome }) => [callId, outcome.kind, outcome.error?.code]);
const reports = (bench: MachineBench) => bench.kinds('largeRequests');

describe('a device that loses large requests', () => {
  it('is recognised when two in a row were lost and a small one was answered', () => {
    const bench = whereTheyAreLost();
    expect(codes(bench)).toEqual([
      ['first', 'UNKNOWN', 'TIMEOUT'],
      ['small', 'SUCCEEDED', undefined],
      ['second', 'UNKNOWN', 'LARGE_MESSAGES_LOST'],
    ]);
    expect(reports(bench)).toEqual([{ kind: 'largeRequests', areLost: true, unanswered: 2 }]);
    expect(bench.settled.at(-1)?.outcome.error?.message).toContain('Restart the device');
  });

  it('is recognised by a small answer after both', () => {
    const bench = onMqtt();
    loseLarge(bench, 'first');
    loseLarge(bench, 'second');
    expect(reports(bench)).toEqual([]);
    answerSmall(bench, 'small');
    expect(reports(bench)).toEqual([{ kind: 'largeRequests', areLost: true, unanswered: 2 }]);
  });

  it('gets no further large requests, but small ones as before', () => {
    const bench = whereTheyAreLost();
    const before = bench.sent().length;
    bench.call('refused', large);
    expect(bench.sent()).toHaveLength(before);
    answerSmall(bench, 'small again');
    expect(codes(bench).slice(-2)).toEqual([
      ['refused', 'NOT_SENT', 'LARGE_MESSAGES_LOST'],
      ['small again', 'SUCCEEDED', undefined],
    ]);
  });

  it('gets one large request as a trial from time to time', () => {
    const bench = whereTheyAreLost();
    bench.now += TRIAL_MS;
    loseLarge(bench, 'trial');
    bench.call('after it', large);
    expect(codes(bench).slice(-2)).toEqual([
      ['trial', 'UNKNOWN', 'LARGE_MESSAGES_LOST'],
      ['after it', 'NOT_SENT', 'LARGE_MESSAGES_LOST'],
    ]);
    expect(reports(bench)).toHaveLength(1);
  });

  it('recovers when it answers the trial', () => {
    const bench = whereTheyAreLost();
    bench.now += TRIAL_MS;
    bench.call('trial', large);
    bench.answer(ok);
    bench.call('next', large);
    bench.answer(ok);
    expect(codes(bench).slice(-2)).toEqual([
      ['trial', 'SUCCEEDED', undefined],
      ['next', 'SUCCEEDED', undefined],
    ]);
    expect(reports(bench).at(-1)).toEqual({ kind: 'largeRequests', areLost: false, unanswered: 2 });
  });

  it('keeps its fault after a lost connection, and shows it with the first large request', () => {
    const bench = onMqtt();
    bench.call('cut', large);
    bench.put({ kind: 'transportClosed', reason: 'connection_lost' });
    const next = onMqtt();
    next.state = initialState(1, bench.state.largeRequests);
    next.makeReady();
    loseLarge(next, 'first');
    expect(codes(next)).toEqual([['first', 'UNKNOWN', 'LARGE_MESSAGES_LOST']]);
  });
});

describe('a device that is only slow or offline', () => {
  it('is not blamed while it answers nothing', () => {
    const bench = onMqtt();
    for (const id of ['first', 'second', 'third']) loseLarge(bench, id);
    expect(codes(bench).map(([, , code]) => code)).toEqual(['TIMEOUT', 'TIMEOUT', 'TIMEOUT']);
    expect(reports(bench)).toEqual([]);
  });

  it('is not blamed when it answers a large request late', () => {
    const bench = onMqtt();
    bench.call('first', large);
    const { id } = bench.state.inFlight ?? {};
    bench.pass(1_000);
    bench.answer(ok, id);
    expect(bench.state.largeRequests).toEqual(noLargeRequests);
    answerSmall(bench, 'small');
    loseLarge(bench, 'second');
    expect(codes(bench).at(-1)).toEqual(['second', 'UNKNOWN', 'TIMEOUT']);
  });

  it('is not blamed on a transport without the fault', () => {
    const bench = new MachineBench().makeReady();
    loseLarge(bench, 'first');
    answerSmall(bench, 'small');
    loseLarge(bench, 'second');
    expect(codes(bench).at(-1)).toEqual(['second', 'UNKNOWN', 'TIMEOUT']);
  });
});
