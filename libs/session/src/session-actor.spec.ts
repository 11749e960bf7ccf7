import { linkedPair } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { ManualClock } from './clock/manual-clock.js';
import { connect, initialised } from './connected-session.suite.js';
import type { Request } from './connected-session.suite.js';
import { SessionActor } from './session-actor.js';
import type { SessionObserver, SettledCall } from './session-contract.js';
import { XiaozhiDialect } from './xiaozhi/xiaozhi-dialect.js';

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

  it('ends a call without an answer in its time when the clock is set back', () => {
    const { call, pump, settled, clock } = connect();
    call('a');
    pump();
    clock.step(-3_600_000);
    clock.advance(60_000);
    expect(ends(settled)).toEqual(['a TIMEOUT']);
  });

  it('never settles inside call, not even a call that cannot be sent', async () => {
    const { session, call, settled } = connect();
    session.close('hub_closed');
    call('a');
    expect(settled).toEqual([]);
    await Promise.resolve();
    expect(ends(settled)).toEqual(['a DEVICE_OFFLINE']);
  });

  it('reports a call that the transport rejected before anything that follows', async () => {
    const { session, near, call, settled } = connect();
    near.send = () => false;
    call('a');
    session.close('hub_closed');
    expect(ends(settled)).toEqual(['a DEVICE_OFFLINE']);
    await Promise.resolve();
    expect(settled).toHaveLength(1);
  });

  it('accepts calls, refreshes and a close inside its callbacks', () => {
    const { session, makeCall, pump, succeed, log } = connect();
    const order: string[] = [];
    session.enqueue(makeCall('a'), () => {
      session.enqueue(makeCall('b'), () => {
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

  it('limits the inputs in its mailbox and reports dropped ones', async () => {
    const { session, makeCall, pump, succeed, log, settled } = connect({ limits: { mailboxInputsMax: 2 } });
    session.enqueue(makeCall('first'), () => {
      for (const id of ['a', 'b', 'c']) session.enqueue(makeCall(id), (end) => settled.push(end));
      session.refreshTools();
    });
    pump();
    succeed();
    pump();
    await Promise.resolve();
    expect(ends(settled)).toEqual(['c OVERLOADED']);
    expect(log).toContain('mailbox_full');
  });

  it('sets no timer for a call that is answered in time', () => {
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

  it('ends a call at its deadline although an older timer is set for later', () => {
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

  it('settles all pending calls when the connection ends, before it reports closed, and sets no more timers', () => {
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

  it('ends only itself when a callback throws', () => {
    const { session, makeCall, settled, call, pump, succeed, log } = connect();
    session.enqueue(makeCall('a'), () => {
      throw new TypeError('a programming error');
    });
    call('b');
    pump();
    succeed();
    pump();
    expect(log).toContain('callback_threw');
    expect(log.at(-1)).toBe('closed: hub_closed');
    expect(ends(settled)).toEqual(['b SESSION_CLOSED']);
  });

  it('still settles pending calls when the transport throws', () => {
    const { session, near, far, clock, call, settled, pump, log } = connect();
    far.onmessage = () => undefined;
    session.refreshTools();
    call('a', { queueDeadlineAt: clock.now() + 15_000 });
    near.send = () => {
      throw new TypeError('a programming error');
    };
    clock.advance(15_000);
    pump();
    expect(ends(settled)).toEqual(['a OVERLOADED']);
    expect(log).toContain('callback_threw');
    expect(log.at(-1)).toBe('closed: hub_closed');
  });

  it('reports for each message whether another follows in the same turn, so that both may share a packet', () => {
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
      dialect: new XiaozhiDialect(),
      transport: near,
      clock: new ManualClock(0),
      observer,
      firstRequestId: 1,
    });
    far.start();
    session.start();
    expect(sent).toEqual(['initialize', 'notifications/initialized, and more', 'tools/list']);
  });

  it('sends messages without an answer until it ends', () => {
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
