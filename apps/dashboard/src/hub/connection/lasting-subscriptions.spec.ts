import type { Client } from 'graphql-ws/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LastingSubscriptions } from './lasting-subscriptions';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Results = Parameters<Client['subscribe']>[1];

/** The socket, with the sinks of all attempts; ending one completes it, as graphql-ws does. */
function open() {
  const attempts: Results[] = [];
  let running = 0;
  let missed = 0;
  const subscribe = (_payload: unknown, sink: Results) => {
    attempts.push(sink);
    running += 1;
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      running -= 1;
      sink.complete();
    };
  };
  const subscriptions = new LastingSubscriptions({ subscribe } as Pick<Client, 'subscribe'>, () => (missed += 1));
  const seen: unknown[] = [];
  const sink = {
    next: (result: unknown) => seen.push(result),
    error: (error: unknown) => seen.push(error),
    complete: () => seen.push('complete'),
  };
  const begin = () => subscriptions.subscribe({ query: 'subscription { x }' }, sink);
  return { subscriptions, attempts, seen, begin, running: () => running, missed: () => missed };
}

const errorsOf = (code: string) => [{ message: code, extensions: { code } }];
const unavailable = errorsOf('UNAVAILABLE');

describe('a subscription that the hub cannot serve now', () => {
  it.each([
    ['refuses it', (sink: Results | undefined) => sink?.error(unavailable)],
    ['fails a value of it', (sink: Results | undefined) => sink?.next({ data: null, errors: unavailable as never })],
  ])('begins again where the hub %s, and what was missed is read', (_how, fail) => {
    const { attempts, seen, begin, running, missed } = open();
    begin();
    fail(attempts[0]);
    expect(attempts).toHaveLength(1);
    vi.advanceTimersByTime(5_000);
    expect([attempts.length, missed()]).toEqual([2, 1]);
    fail(attempts[1]);
    vi.advanceTimersByTime(5_000);
    attempts[2]?.next({ data: { x: 1 } });
    expect(seen).toEqual([{ data: { x: 1 } }]);
    vi.advanceTimersByTime(60_000);
    expect([attempts.length, missed()]).toEqual([3, 2]);
    expect(running()).toBe(1);
  });

  it.each(['TOO_SLOW', 'RATE_LIMITED'])('begins again after %s', (code) => {
    const { attempts, seen, begin, missed } = open();
    begin();
    attempts[0]?.error(errorsOf(code) as never);
    vi.advanceTimersByTime(5_000);
    expect([attempts.length, missed(), seen]).toEqual([2, 1, []]);
  });

  it('begins together with the others, so that pages read once', () => {
    const { attempts, begin, missed } = open();
    for (let count = 0; count < 3; count++) begin();
    for (const attempt of [...attempts]) attempt.error(unavailable);
    vi.advanceTimersByTime(5_000);
    expect([attempts.length, missed()]).toEqual([6, 1]);
  });

  it('does not begin again after its page or the client is closed', () => {
    const { subscriptions, attempts, begin, missed } = open();
    const end = begin();
    begin();
    for (const attempt of [...attempts]) attempt.error(unavailable);
    end();
    subscriptions.close();
    vi.advanceTimersByTime(60_000);
    expect([attempts.length, missed()]).toEqual([2, 0]);
  });
});

describe('each other end', () => {
  it('reaches the page', () => {
    const { attempts, seen, begin } = open();
    begin();
    attempts[0]?.error(errorsOf('NOT_FOUND'));
    attempts[0]?.error(errorsOf('COST_LIMIT'));
    attempts[0]?.error({ code: 4403, reason: 'Forbidden' });
    attempts[0]?.complete();
    vi.advanceTimersByTime(60_000);
    expect(seen).toEqual([
      errorsOf('NOT_FOUND'),
      errorsOf('COST_LIMIT'),
      { code: 4403, reason: 'Forbidden' },
      'complete',
    ]);
    expect(attempts).toHaveLength(1);
  });
});
