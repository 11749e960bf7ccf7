import type { SessionLogEntry } from '@flotilla/bus';
import type { SessionLogReader } from '@flotilla/fleet';
import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { sessionLog } from './session-log.js';

const entry = (text: string, kind: SessionLogEntry['kind'] = 'SENT'): SessionLogEntry => ({
  deviceId: 'd' as DeviceId,
  at: 1,
  kind,
  text,
  bytes: text.length,
  isTruncated: false,
});

async function open() {
  let reader: SessionLogReader | undefined;
  let closed = 0;
  const stream = await sessionLog((given) => {
    reader = given;
    return Promise.resolve({ log: { startedAt: 0, endsAt: 900_000, close: () => (closed += 1) } });
  });
  const take = async () => {
    const { value } = await stream.next();
    return value && `${value.kind} ${value.text}`;
  };
  return {
    stream,
    take,
    closed: () => closed,
    push: (given: SessionLogEntry) => reader?.onEntry(given),
    end: () => reader?.onEnd(),
  };
}

describe('the stream of a session log', () => {
  it('begins with its end, and has the entries in order', async () => {
    const { take, push } = await open();
    push(entry('a'));
    expect([await take(), await take()]).toEqual(['STARTED 1970-01-01T00:15:00.000Z', 'SENT a']);
    const next = take();
    push(entry('b', 'RECEIVED'));
    expect(await next).toBe('RECEIVED b');
  });

  it('shows what waits when the time is over, and then completes', async () => {
    const { stream, take, push, end, closed } = await open();
    await take();
    push(entry('a'));
    end();
    expect(await take()).toBe('SENT a');
    expect((await stream.next()).done).toBe(true);
    expect(closed()).toBe(1);
  });

  it('closes the log when the reader leaves, also before the first entry', async () => {
    const early = await open();
    await early.stream.return();
    expect(early.closed()).toBeGreaterThan(0);
    const waiting = await open();
    await waiting.take();
    const pending = waiting.stream.next();
    await waiting.stream.return();
    expect((await pending).done).toBe(true);
    expect(waiting.closed()).toBeGreaterThan(0);
  });

  it('counts what a slow reader missed', async () => {
    const { take, push } = await open();
    for (let count = 0; count < 203; count += 1) push(entry(String(count)));
    const seen = [];
    for (let count = 0; count < 202; count += 1) seen.push(await take());
    expect(seen.slice(199)).toEqual(['SENT 198', 'SENT 199', 'DROPPED 3']);
  });

  it('throws the reason of a refusal', async () => {
    const refused = (code: 'NOT_FOUND' | 'OVERLOADED') =>
      sessionLog(() => Promise.resolve({ refusal: { code, message: 'Why.', path: [] } }));
    await expect(refused('NOT_FOUND')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(refused('OVERLOADED')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });
});
