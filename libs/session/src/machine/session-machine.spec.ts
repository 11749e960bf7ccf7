import { describe, expect, it } from 'vitest';
import { MachineBench } from './machine-bench.suite.js';
import { nextWakeAt } from './machine-state.js';
import { defaultSessionLimits, rememberedRequestsMax } from '../session-limits.js';

describe('greeting', () => {
  it('sends a greeting, confirms it, lists tools and becomes ready', () => {
    const bench = new MachineBench().makeReady();
    expect(bench.sent().map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
    const sequence = bench.effects
      .filter(({ kind }) => kind !== 'send')
      .map((effect) => ('state' in effect ? effect.state : effect.kind));
    expect(sequence).toEqual(['greeting', 'greeted', 'discovering', 'toolsDiscovered', 'ready']);
  });

  it('repeats the greeting after a timeout, uses the second answer, and counts the first as late', () => {
    const bench = new MachineBench();
    bench.put({ kind: 'start' });
    bench.pass(defaultSessionLimits.greetingTimeoutMs);
    bench.answer('"result":{}', 1);
    expect(bench.anomalies()).toEqual(['late_reply']);
    bench.answer('"result":{}');
    expect(bench.state.phase).toBe('discovering');
  });

  it('ends the session after the second timeout', () => {
    const bench = new MachineBench();
    bench.put({ kind: 'start' });
    bench.call('a', { queueDeadlineAt: 1e9 });
    bench.pass(defaultSessionLimits.greetingTimeoutMs);
    expect(bench.state.phase).toBe('greeting');
    bench.pass(defaultSessionLimits.greetingTimeoutMs);
    expect(bench.outcomes()).toEqual([['a', 'NOT_SENT', 'DEVICE_OFFLINE', 'NEVER']]);
    expect(bench.effects.slice(-2)).toEqual([
      { kind: 'closeTransport', reason: 'greeting_failed' },
      { kind: 'stateChanged', state: 'closed', reason: 'greeting_failed' },
    ]);
  });
});

describe('calls', () => {
  it('are sent one at a time, in order', () => {
    const bench = new MachineBench().makeReady();
    for (const id of ['a', 'b', 'c']) bench.call(id);
    expect(bench.sent().filter(({ method }) => method === 'tools/call')).toHaveLength(1);
    bench.answer('"result":{"content":[{"type":"text","text":"1"}]}');
    bench.answer('"result":{"content":[{"type":"text","text":"2"}]}');
    bench.answer('"result":{"content":[{"type":"text","text":"3"}]}');
    expect(bench.settled.map(({ callId, outcome }) => [callId, outcome.result?.content[0]?.['text']])).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]);
  });

  it('wait for the session to be ready', () => {
    const bench = new MachineBench();
    bench.call('a');
    bench.makeReady();
    expect(bench.sent().at(-1)?.method).toBe('tools/call');
  });

  it('end with the answer of the device', () => {
    const bench = new MachineBench().makeReady();
    const ends = [
      '"result":{"content":[],"isError":false}',
      '"error":{"message":"Failed to capture photo"}',
      '"error":{"code":-7,"message":"no"}',
      '"result":{"content":[{"type":"text","text":"jammed"}],"isError":true}',
      '"result":1,"error":{"message":"both"}',
      '"error":{"message":"un"escaped"}',
      '"result":null',
    ];
    ends.forEach((members, at) => {
      bench.call(String(at));
      bench.answer(members);
    });
    expect(bench.settled.map(({ outcome }) => [outcome.kind, outcome.error?.code, outcome.error?.rpcCode])).toEqual([
      ['SUCCEEDED', undefined, undefined],
      ['FAILED', 'DEVICE_ERROR', undefined],
      ['FAILED', 'DEVICE_ERROR', -7],
      ['FAILED', 'DEVICE_ERROR', undefined],
      ['FAILED', 'MALFORMED_REPLY', undefined],
      ['FAILED', 'MALFORMED_REPLY', undefined],
      ['FAILED', 'MALFORMED_REPLY', undefined],
    ]);
    expect(bench.settled[3]?.outcome).toMatchObject({ error: { message: 'jammed' }, result: { isError: true } });
    expect(bench.settled[5]?.outcome.error?.message).toContain('un"escaped');
  });

  it('end unknown at their deadline, and the next one is sent', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a', { callTimeoutMs: 1000 });
    bench.call('b');
    bench.pass(999);
    expect(bench.settled).toEqual([]);
    bench.pass(1);
    expect(bench.outcomes()).toEqual([['a', 'UNKNOWN', 'TIMEOUT', 'YES']]);
    expect(bench.state.inFlight).toMatchObject({ pending: { call: { callId: 'b' } } });
  });

  it('never wait longer than their absolute deadline', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a', { callTimeoutMs: 30_000, callDeadlineAt: bench.now + 400 });
    expect(nextWakeAt(bench.state)).toBe(bench.now + 400);
  });

  it('settle once when answer and deadline arrive together', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a', { callTimeoutMs: 1000 });
    bench.now += 1000;
    bench.answer('"result":{"content":[]}');
    bench.put({ kind: 'wake' });
    expect(bench.outcomes()).toEqual([['a', 'SUCCEEDED', undefined, 'YES']]);
  });

  it('report a late answer once, and count further ones as duplicates', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a', { callTimeoutMs: 1000 });
    const { id } = bench.state.inFlight ?? {};
    bench.pass(1000);
    bench.now += 60_000;
    bench.answer('"result":{"content":[]}', id);
    bench.answer('"result":{"content":[]}', id);
    expect(bench.kinds('lateOutcome')).toMatchObject([
      { late: { callId: 'a', outcome: { kind: 'SUCCEEDED' }, settledAt: 61_000 } },
    ]);
    expect(bench.anomalies()).toEqual(['late_reply', 'duplicate_reply']);
    expect(bench.settled).toHaveLength(1);
  });

  it('are forgotten after the time for late answers', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a', { callTimeoutMs: 1000 });
    const { id } = bench.state.inFlight ?? {};
    bench.pass(1000);
    bench.now += defaultSessionLimits.lateReplyMs;
    bench.answer('"result":{"content":[]}', id);
    expect(bench.kinds('lateOutcome')).toEqual([]);
  });

  it('are forgotten, the oldest first, where a silent device has received too many', () => {
    const bench = new MachineBench().makeReady();
    const ids = Array.from({ length: rememberedRequestsMax + 1 }, (_, index) => {
      bench.call(`call ${index}`, { callTimeoutMs: 1_000 });
      const { id } = bench.state.inFlight ?? {};
      bench.pass(1_000);
      return id;
    });
    for (const id of ids.slice(0, 2)) bench.answer('"result":{"content":[]}', id);
    expect(bench.kinds('lateOutcome')).toMatchObject([{ late: { callId: 'call 1' } }]);
    expect(bench.state.remembered.size).toBe(rememberedRequestsMax - 1);
  });

  it('ignore answers to ids that were never used', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a');
    bench.answer('"result":{"content":[]}', 4000);
    bench.answer('"result":{"content":[]}', 0);
    expect(bench.anomalies()).toEqual(['unknown_reply_id', 'unknown_reply_id']);
    expect(bench.settled).toEqual([]);
  });

  it('are not sent after their queue deadline', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a');
    bench.call('b', { queueDeadlineAt: bench.now + 100 });
    bench.call('c', { queueDeadlineAt: bench.now });
    bench.pass(100);
    bench.answer('"result":{"content":[]}');
    expect(bench.outcomes()).toEqual([
      ['c', 'NOT_SENT', 'OVERLOADED', 'NEVER'],
      ['b', 'NOT_SENT', 'OVERLOADED', 'NEVER'],
      ['a', 'SUCCEEDED', undefined, 'YES'],
    ]);
  });

  it('are rejected when too many wait, when too large, and with names that cannot be sent', () => {
    const bench = new MachineBench({ waitingCallsMax: 1, requestBytesMax: 200 }).makeReady();
    bench.call('large', { arguments: { text: '灯'.repeat(60) } });
    bench.call('name', { tool: 'a"b' });
    bench.call('a');
    bench.call('b');
    bench.call('c');
    expect(bench.outcomes()).toEqual([
      ['large', 'NOT_SENT', 'REQUEST_TOO_LARGE', 'NEVER'],
      ['name', 'NOT_SENT', 'TOOL_UNKNOWN', 'NEVER'],
      ['c', 'NOT_SENT', 'OVERLOADED', 'NEVER'],
    ]);
  });

  it('end not sent if the transport accepted nothing', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a');
    bench.call('b');
    bench.put({ kind: 'sendFailed', id: bench.state.inFlight?.id ?? 0 });
    expect(bench.outcomes()).toEqual([['a', 'NOT_SENT', 'DEVICE_OFFLINE', 'NEVER']]);
    expect(bench.state.inFlight).toMatchObject({ pending: { call: { callId: 'b' } } });
  });
});

describe('ids', () => {
  it('wrap around at the maximum, and skip 0 and remembered ids', () => {
    const max = 2 ** 31 - 1;
    const bench = new MachineBench({}, max - 1).makeReady();
    expect(bench.sent().map(({ id }) => id)).toEqual([max - 1, undefined, max]);
    bench.call('a', { callTimeoutMs: 10 });
    expect(bench.state.inFlight?.id).toBe(1);
    bench.pass(10);
    bench.state = { ...bench.state, nextId: 1 };
    bench.call('b');
    expect(bench.state.inFlight?.id).toBe(2);
  });
});

describe('the end', () => {
  it('settles the call in flight as unknown and the others as not sent, then closes', () => {
    const bench = new MachineBench().makeReady();
    bench.call('a');
    bench.call('b');
    const effects = bench.put({ kind: 'close', reason: 'taken_over' });
    expect(effects.map(({ kind }) => kind)).toEqual([
      'stateChanged',
      'settle',
      'settle',
      'closeTransport',
      'stateChanged',
    ]);
    expect(bench.outcomes()).toEqual([
      ['a', 'UNKNOWN', 'SESSION_CLOSED', 'YES'],
      ['b', 'NOT_SENT', 'DEVICE_OFFLINE', 'NEVER'],
    ]);
  });

  it('does not close a transport that has already ended', () => {
    const bench = new MachineBench().makeReady();
    expect(bench.put({ kind: 'transportClosed', reason: 'connection_lost' }).at(-1)).toEqual({
      kind: 'stateChanged',
      state: 'closed',
      reason: 'connection_lost',
    });
    expect(bench.kinds('closeTransport')).toEqual([]);
  });

  it('is final: later inputs have no effect, but calls are settled', () => {
    const bench = new MachineBench().makeReady();
    bench.put({ kind: 'close', reason: 'hub_closed' });
    const before = bench.effects.length;
    bench.put({ kind: 'close', reason: 'hub_closed' });
    bench.put({ kind: 'start' });
    bench.put({ kind: 'refresh' });
    bench.answer('"result":{}', 1);
    bench.pass(1e9);
    expect(bench.effects).toHaveLength(before);
    bench.call('a');
    expect(bench.outcomes()).toEqual([['a', 'NOT_SENT', 'DEVICE_OFFLINE', 'NEVER']]);
  });
});

it('passes on notifications and other messages, and counts anomalies', () => {
  const bench = new MachineBench().makeReady();
  bench.text('{"type":"mcp","payload":{"jsonrpc":"2.0","method":"notifications/state_changed","params":{"a":1}}}');
  bench.text('{"type":"listen","state":"start"}');
  bench.text('{"type":"dance"}');
  bench.text('{"type":"mcp","payload":{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage"}}');
  bench.text('no json');
  bench.text('[]');
  bench.text('{"type":"mcp","payload":{}}');
  expect(bench.kinds('notification')).toEqual([
    { kind: 'notification', method: 'notifications/state_changed', params: { a: 1 } },
  ]);
  expect(bench.kinds('deviceMessage')).toMatchObject([{ type: 'listen' }, { type: 'dance' }]);
  expect(bench.anomalies()).toEqual([
    'unknown_message_type',
    'device_request',
    'unparseable_message',
    'invalid_envelope',
    'invalid_json_rpc',
  ]);
});
