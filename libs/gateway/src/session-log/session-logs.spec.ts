import type { FeedTopics, SessionLogEntry } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import type { MessageTap } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { SessionLogs } from './session-logs.js';
import type { LoggedSession } from './session-logs.js';

const deviceId = 'd-1' as DeviceId;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

class FakeSession implements LoggedSession {
  readonly deviceId = deviceId;
  readonly dialect = 'XIAOZHI';
  readonly opening = 'MQTT 192.0.2.7';
  current: MessageTap | undefined;

  constructor(readonly hello: string | undefined = undefined) {}

  tap(tap: MessageTap | undefined): void {
    this.current = tap;
  }
}

function open(session: FakeSession | undefined) {
  const clock = new ManualClock(1_000_000);
  const entries: SessionLogEntry[] = [];
  let want: (wanted: FeedTopics['sessionLogWanted']) => void = () => undefined;
  const held: { session: FakeSession | undefined } = { session };
  const feed = {
    publish: (_topic: string, message: unknown) => void entries.push(message as SessionLogEntry),
    subscribe: (_topic: string, listener: unknown) => {
      want = listener as typeof want;
      return () => undefined;
    },
  };
  const logs = new SessionLogs({ feed, clock, logger: silent }, () => held.session);
  logs.start();
  return { clock, entries, logs, held, want: (forMs = 15_000) => want({ deviceId, forMs }) };
}

const shown = (entries: readonly SessionLogEntry[]) => entries.map(({ kind, text }) => `${kind} ${text}`);

describe('the logs of sessions', () => {
  it('do not look at messages until they are wanted, and not longer', () => {
    const session = new FakeSession();
    const { clock, entries, logs, want } = open(session);
    logs.opened(session);
    expect(session.current).toBeUndefined();
    want();
    session.current?.('SENT', '{"a":1}');
    clock.advance(10_000);
    want();
    clock.advance(14_999);
    session.current?.('RECEIVED', '{"b":2}');
    clock.advance(1);
    expect([session.current, logs.size]).toEqual([undefined, 0]);
    logs.closed(deviceId, 'taken_over');
    expect(shown(entries)).toEqual(['SENT {"a":1}', 'RECEIVED {"b":2}']);
    expect(entries[0]).toMatchObject({ at: 1_000_000, bytes: 7, isTruncated: false });
  });

  it('mask secrets, and cut long texts', () => {
    const session = new FakeSession();
    const { entries, want } = open(session);
    want();
    session.current?.('SENT', '{"password":"hunter2","url":"https://h.example/ota/abc123xyz/?t=1"}');
    session.current?.('RECEIVED', 'x'.repeat(20_000));
    expect(entries[0]?.text).toBe('{"password":"***","url":"https://h.example/ota/***/?***"}');
    expect(entries[1]).toMatchObject({ bytes: 20_000, isTruncated: true });
    expect(entries[1]?.text).toHaveLength(16 * 1024);
  });

  it('follow the device over reconnects, with its first message', () => {
    const before = new FakeSession();
    const { entries, logs, held, want } = open(before);
    want();
    logs.closed(deviceId, 'connection_lost');
    const after = new FakeSession('{"type":"hello"}');
    held.session = after;
    logs.opened(after);
    after.current?.('SENT', '{"type":"hello","session_id":"s"}');
    expect(shown(entries)).toEqual([
      'CLOSED connection_lost',
      'OPENED MQTT 192.0.2.7',
      'RECEIVED {"type":"hello"}',
      'SENT {"type":"hello","session_id":"s"}',
    ]);
  });

  it('wait for a device that is offline', () => {
    const { entries, logs, held, want } = open(undefined);
    want();
    const session = new FakeSession();
    held.session = session;
    logs.opened(session);
    expect(shown(entries)).toEqual(['OPENED MQTT 192.0.2.7']);
    expect(session.current).toBeDefined();
  });

  it('count what a device sends beyond the limit', () => {
    const session = new FakeSession();
    const { clock, entries, want } = open(session);
    want();
    for (let count = 0; count < 260; count += 1) session.current?.('RECEIVED', 'x');
    expect(entries).toHaveLength(200);
    clock.advance(1_000);
    expect(shown(entries.slice(200))).toEqual(['DROPPED 60']);
    session.current?.('RECEIVED', 'again');
    expect(entries.at(-1)?.text).toBe('again');
  });

  it('limit the bytes per second', () => {
    const session = new FakeSession();
    const { clock, entries, want } = open(session);
    want();
    const large = 'x'.repeat(60 * 1024);
    for (let count = 0; count < 20; count += 1) session.current?.('SENT', large);
    expect(entries).toHaveLength(17);
    clock.advance(1_000);
    expect(entries.at(-1)).toMatchObject({ kind: 'DROPPED', text: '3' });
  });

  it('end with the gateway', () => {
    const session = new FakeSession();
    const { logs, want } = open(session);
    want();
    logs.stop();
    expect([session.current, logs.size]).toEqual([undefined, 0]);
  });
});
