import { linkedPair } from '@flotilla/mcp';
import type { CallId, ToolPage } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { ManualClock } from './clock/manual-clock.js';
import { SessionActor } from './session-actor.js';
import type { SessionCall, SessionLimits, SessionObserver, SettledCall, ToolPageCache } from './session-contract.js';
import { XiaozhiDialect } from './xiaozhi/xiaozhi-dialect.js';

interface Request {
  readonly id: number;
  readonly method: string;
}

const page = '"result":{"tools":[{"name":"t"}]}';
const initialised = '"result":{"serverInfo":{"name":"b","version":"1"}}';

/** A device that greets and lists by itself, keeps calls for the test to answer, and runs on a queue that the test pumps. */
function connect(
  options: { limits?: Partial<SessionLimits>; pageCache?: ToolPageCache; observer?: Partial<SessionObserver> } = {},
) {
  const later: (() => void)[] = [];
  const { near, far } = linkedPair((run) => later.push(run));
  const pump = () => {
    for (let run = later.shift(); run !== undefined; run = later.shift()) run();
  };
  const calls: Request[] = [];
  const answer = (id: number, members: string) =>
    far.send(`{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},${members}}}`);
  far.onmessage = (text) => {
    const request: Request = JSON.parse(text).payload;
    if (request.method === 'initialize') answer(request.id, initialised);
    else if (request.method === 'tools/list') answer(request.id, page);
    else if (request.method === 'tools/call') calls.push(request);
  };
  const log: string[] = [];
  const observer: SessionObserver = {
    onStateChanged: (state, reason) => log.push(reason === undefined ? state : `${state}: ${reason}`),
    onGreeted: (info) => log.push(`greeted ${info.model}`),
    onToolsDiscovered: (discovered) => log.push(`tools ${discovered.tools.map(({ name }) => name).join()}`),
    onDiscoveryFailed: (message) => log.push(`discovery failed: ${message}`),
    onNotification: (method) => log.push(method),
    onDeviceMessage: (type) => log.push(`message ${type}`),
    onLateOutcome: (late) => log.push(`late ${late.callId}`),
    onLargeRequests: (areLost) => log.push(`large requests ${areLost ? 'lost' : 'received'}`),
    onAnomaly: (anomaly) => log.push(anomaly),
    ...options.observer,
  };
  const clock = new ManualClock(1_000_000);
  const { limits = {}, pageCache } = options;
  const session = new SessionActor({
    dialect: new XiaozhiDialect(),
    transport: near,
    clock,
    observer,
    firstRequestId: 100,
    limits,
    ...(pageCache === undefined ? {} : { pageCache }),
  });
  far.start();
  session.start();
  pump();
  const settled: SettledCall[] = [];
  const makeCall = (callId: string, change: Partial<SessionCall> = {}): SessionCall => ({
    callId: callId as CallId,
    tool: 't',
    arguments: {},
    queueDeadlineAt: clock.now() + 5000,
    callTimeoutMs: 30_000,
    ...change,
  });
  const call = (callId: string, change?: Partial<SessionCall>) =>
    session.call(makeCall(callId, change), (end) => settled.push(end));
  const succeed = () => answer(calls.shift()?.id ?? 0, '"result":{"content":[]}');
  return { session, near, far, clock, log, settled, calls, call, makeCall, succeed, pump };
}

const ends = (settled: readonly SettledCall[]) =>
  settled.map(({ callId, outcome }) => `${callId} ${outcome.error?.code ?? outcome.kind}`);

describe('a session', () => {
  it('becomes ready and answers a call', () => {
    const { session, log, call, pump, succeed, settled, clock } = connect();
    expect(log).toEqual(['greeting', 'greeted b', 'discovering', 'tools t', 'ready']);
    call('a');
    pump();
    expect(session.pendingCalls).toBe(1);
    clock.advance(70);
    succeed();
    pump();
    expect(settled).toEqual([
      {
        callId: 'a',
        outcome: { kind: 'SUCCEEDED', certainty: 'YES', result: { content: [], isError: false } },
        sentAt: 1_000_000,
        settledAt: 1_000_070,
      },
    ]);
    expect(session.pendingCalls).toBe(0);
  });

  it('never settles inside call, not even what cannot be sent', async () => {
    const { session, call, settled } = connect();
    session.close('hub_closed');
    call('a');
    expect(settled).toEqual([]);
    await Promise.resolve();
    expect(ends(settled)).toEqual(['a DEVICE_OFFLINE']);
  });

  it('tells a call that the transport refused before anything that comes after', async () => {
    const { session, near, call, settled } = connect();
    near.send = () => false;
    call('a');
    session.close('hub_closed');
    expect(ends(settled)).toEqual(['a DEVICE_OFFLINE']);
    await Promise.resolve();
    expect(settled).toHaveLength(1);
  });

  it('takes calls, refreshes and a close from inside its callbacks', () => {
    const { session, makeCall, pump, succeed, log } = connect();
    const order: string[] = [];
    session.call(makeCall('a'), () => {
      session.call(makeCall('b'), () => {
        order.push('b');
        session.close('hub_closed');
        order.push('close returned');
      });
      order.push('a');
    });
    pump();
    succeed();
    pump();
    succeed();
    pump();
    expect(order).toEqual(['a', 'b', 'close returned']);
    expect(log.at(-1)).toBe('closed: hub_closed');
  });

  it('keeps no more inputs than its mailbox takes, and says so', async () => {
    const { session, makeCall, pump, succeed, log, settled } = connect({ limits: { mailboxInputsMax: 2 } });
    session.call(makeCall('first'), () => {
      for (const id of ['a', 'b', 'c']) session.call(makeCall(id), (end) => settled.push(end));
      session.refreshTools();
    });
    pump();
    succeed();
    pump();
    await Promise.resolve();
    expect(ends(settled)).toEqual(['c OVERLOADED']);
    expect(log).toContain('mailbox_full');
  });

  it('needs no timer for a call that is answered in time', () => {
    const { clock, call, pump, succeed } = connect();
    const before = clock.timers;
    for (const id of ['a', 'b', 'c']) {
      call(id);
      pump();
      succeed();
      pump();
      expect(clock.timers).toBe(before);
    }
  });

  it('ends a call at its deadline although an older timer is armed for later', () => {
    const { clock, call, settled, pump, log, succeed } = connect();
    call('a', { callTimeoutMs: 500 });
    pump();
    clock.advance(499);
    expect(settled).toEqual([]);
    clock.advance(1);
    expect(ends(settled)).toEqual(['a TIMEOUT']);
    succeed();
    pump();
    expect(log.slice(-2)).toEqual(['late_reply', 'late a']);
  });

  it('settles all that is pending when the connection ends, before it says closed, and arms no timer any more', () => {
    const observed: string[] = [];
    let settledCount = () => 0;
    const { far, call, pump, settled, clock, near } = connect({
      observer: { onStateChanged: (state) => observed.push(`${state} after ${settledCount()}`) },
    });
    settledCount = () => settled.length;
    call('a');
    call('b');
    far.close('device_closed');
    pump();
    expect(ends(settled)).toEqual(['a SESSION_CLOSED', 'b DEVICE_OFFLINE']);
    expect(observed.at(-1)).toBe('closed after 2');
    expect(clock.timers).toBe(0);
    expect(near.send('x')).toBe(false);
  });

  it('ends itself, and nobody else, when a callback throws', () => {
    const { session, makeCall, settled, call, pump, succeed, log } = connect();
    session.call(makeCall('a'), () => {
      throw new TypeError('a mistake of ours');
    });
    call('b');
    pump();
    succeed();
    pump();
    expect(log).toContain('callback_threw');
    expect(log.at(-1)).toBe('closed: hub_closed');
    expect(ends(settled)).toEqual(['b SESSION_CLOSED']);
  });

  it('still settles what was due when the transport throws', () => {
    const { session, near, far, clock, call, settled, pump, log } = connect();
    far.onmessage = () => undefined;
    session.refreshTools();
    call('a', { queueDeadlineAt: clock.now() + 15_000 });
    near.send = () => {
      throw new TypeError('a mistake of ours');
    };
    clock.advance(15_000);
    pump();
    expect(ends(settled)).toEqual(['a OVERLOADED']);
    expect(log).toContain('callback_threw');
    expect(log.at(-1)).toBe('closed: hub_closed');
  });

  it('says of each message whether another follows it in the same turn, so that both may share a packet', () => {
    const { near, far } = linkedPair((run) => void run());
    const sent: string[] = [];
    const send = near.send.bind(near);
    near.send = (text, isMoreToCome) => {
      sent.push(`${JSON.parse(text).payload.method}${isMoreToCome ? ', and more' : ''}`);
      return send(text);
    };
    far.onmessage = (text) => {
      const { id, method }: Request = JSON.parse(text).payload;
      if (method === 'initialize')
        far.send(`{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},${initialised}}}`);
    };
    const observer = { onStateChanged: () => undefined, onGreeted: () => undefined } as unknown as SessionObserver;
    const session = new SessionActor({
      ...{ dialect: new XiaozhiDialect(), transport: near, clock: new ManualClock(0), observer, firstRequestId: 1 },
    });
    far.start();
    session.start();
    expect(sent).toEqual(['initialize', 'notifications/initialized, and more', 'tools/list']);
  });

  it('sends messages that expect no answer until it ends', () => {
    const { session, far, pump } = connect();
    const received: string[] = [];
    far.onmessage = (text) => received.push(text);
    expect(session.sendMessage({ type: 'alert', status: 's', message: 'm', emotion: 'neutral' })).toBe(true);
    expect(session.sendMessage({ type: 'alert', message: 'x'.repeat(9000) })).toBe(false);
    pump();
    expect(received).toEqual(['{"type":"alert","status":"s","message":"m","emotion":"neutral"}']);
    session.close('hub_closed');
    expect(session.sendMessage({ type: 'alert' })).toBe(false);
  });
});

describe('pages of tools', () => {
  function cache() {
    const pages = new Map<string, ToolPage>();
    const hits: string[] = [];
    const recall = (text: string) => {
      const known = pages.get(text);
      if (known !== undefined) hits.push(text);
      return known;
    };
    return {
      pages,
      hits,
      pageCache: { recall, remember: (text: string, known: ToolPage) => void pages.set(text, known) },
    };
  }

  it('that are known are the same object for every device that sends the same text', () => {
    const { hits, pageCache } = cache();
    const seen: ToolPage[] = [];
    const observer: Partial<SessionObserver> = { onToolsDiscovered: ({ pages }) => seen.push(...pages) };
    connect({ pageCache, observer });
    expect(hits).toEqual([]);
    connect({ pageCache, observer });
    expect(hits).toEqual(['{"tools":[{"name":"t"}]}']);
    expect(seen[1]).toBe(seen[0]);
  });

  it.each([
    ['carries an error, too', ',"error":{"message":"x"}', 'discovery failed'],
    ['changes its id further on', ',"id":5', 'unknown_reply_id'],
  ])('are not remembered where the message %s', (_, tail, told) => {
    const { pages, pageCache } = cache();
    const { session, far, pump, log } = connect({ pageCache });
    pages.clear();
    far.onmessage = (text) => {
      const { id } = JSON.parse(text).payload;
      far.send(`{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},"result":{"tools":[]}${tail}}}`);
    };
    session.refreshTools();
    pump();
    expect(pages.size).toBe(0);
    expect(log.at(-1)).toContain(told);
  });
});
