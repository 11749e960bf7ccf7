import { parse } from 'graphql';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultClientLimits } from '../client-options.js';
import { Subscriptions, type SubscriptionOptions } from './subscriptions.js';

interface Message {
  readonly type: string;
  readonly id?: string;
}

/** What the hub does with the subscriptions of a socket, one after another. */
interface Answer {
  readonly values?: readonly unknown[];
  readonly closes?: number;
  readonly error?: readonly unknown[];
  /** It answers no ping from then on. */
  readonly isDeaf?: boolean;
  /** From then on each pong waits behind a value, on a slow line. */
  readonly isSlow?: boolean;
}

const errorsOf = (code: string) => [{ message: code, extensions: { code } }];
const unavailable = errorsOf('UNAVAILABLE');
const value = (n: number) => ({ data: { n } });

/** Just in time for a client that waits for a sign of life. */
const slowMs = defaultClientLimits.keepAliveMs - 1;

/** A hub that answers each subscription with the next of these, and reads of them from then on. */
function hubThat(...answers: readonly Answer[]) {
  let [asked, opened] = [0, 0];
  class HubSocket {
    static readonly [name: string]: unknown;
    static readonly CONNECTING = 0;
    static readonly OPEN = 1;
    static readonly CLOSING = 2;
    static readonly CLOSED = 3;
    readyState = 0;
    #isDeaf = false;
    #isSlow = false;
    #id: string | undefined;
    onopen?: () => void;
    onmessage?: (message: { readonly data: string }) => void;
    onclose?: (event: { readonly code: number; readonly reason: string }) => void;

    constructor() {
      opened += 1;
      setImmediate(() => {
        this.readyState = 1;
        this.onopen?.();
      });
    }

    send(text: string): void {
      const { type, id } = JSON.parse(text) as Message;
      if (type === 'ping' && this.#isSlow) this.#replySlowly();
      else if (type === 'ping' && !this.#isDeaf) this.#reply({ type: 'pong' });
      if (type === 'connection_init') this.#reply({ type: 'connection_ack' });
      if (type !== 'subscribe') return;
      const { values = [], error, closes, isDeaf, isSlow } = answers[Math.min(asked++, answers.length - 1)] ?? {};
      this.#isDeaf = isDeaf === true;
      this.#isSlow = isSlow === true;
      this.#id = id;
      for (const payload of values) this.#reply({ type: 'next', id, payload });
      if (error) this.#reply({ type: 'error', id, payload: error });
      if (closes !== undefined) setImmediate(() => this.close(closes));
    }

    close(code = 1000): void {
      if (this.readyState === 3) return;
      this.readyState = 3;
      this.onclose?.({ code, reason: '' });
    }

    #replySlowly(): void {
      setTimeout(() => this.#reply({ type: 'next', id: this.#id, payload: value(2) }), slowMs);
      setTimeout(() => this.#reply({ type: 'pong' }), 2 * slowMs);
    }

    #reply(message: object): void {
      setImmediate(() => this.onmessage?.({ data: JSON.stringify(message) }));
    }
  }
  const limits = { ...defaultClientLimits, backOffMs: 1, backOffMsMax: 2, reconnectsMax: 3 };
  const subscriptions = new Subscriptions({ url: 'ws://hub/graphql', apiKey: undefined, webSocket: HubSocket, limits });
  const read = (options?: SubscriptionOptions) => subscriptions.iterate(parse('subscription { n }'), {}, options);
  return { subscriptions, read, asked: () => asked, opened: () => opened };
}

afterEach(() => vi.useRealTimers());

/** Values until so many are there, or until the end. */
async function take(stream: AsyncGenerator<unknown>, count: number): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for await (const data of stream) if (seen.push(data) === count) break;
  return seen;
}

describe('a subscription that had begun', () => {
  it.each<readonly [string, Answer]>([
    ['ends because the hub cannot read', { values: [value(1)], error: unavailable }],
    ['has a value that the hub cannot read', { values: [value(1), { data: null, errors: unavailable }] }],
    ['was read too slowly', { values: [value(1)], error: errorsOf('TOO_SLOW') }],
    ['is over the budget of its key', { values: [value(1)], error: errorsOf('RATE_LIMITED') }],
  ])('begins again where it %s', async (_how, answer) => {
    let missed = 0;
    const { read } = hubThat(answer, { values: [value(2)] });
    expect(await take(read({ onReconnect: () => (missed += 1) }), 2)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(missed).toBe(1);
  });

  it('reports what may be missing when its new socket is there', async () => {
    const seen: string[] = [];
    const { read } = hubThat({ values: [value(1)], error: unavailable }, { values: [value(2)] });
    await take(read({ onConnected: () => seen.push('connected'), onReconnect: () => seen.push('again') }), 2);
    expect(seen).toEqual(['connected', 'connected', 'again']);
  });

  it('reports what may be missing on the socket that another subscription keeps open', async () => {
    const seen: string[] = [];
    const { read, opened } = hubThat({}, { values: [value(1)], error: unavailable }, { values: [value(2)] });
    const other = read();
    void other.next().catch(() => undefined);
    await take(read({ onConnected: () => seen.push('connected'), onReconnect: () => seen.push('again') }), 2);
    expect(seen).toEqual(['connected', 'again']);
    expect(opened()).toBe(1);
  });

  it('begins again where its first value cannot be read', async () => {
    const { read } = hubThat({ values: [{ data: null, errors: unavailable }] }, { values: [value(1)] });
    expect(await take(read(), 1)).toEqual([{ n: 1 }]);
  });

  it('begins again where the hub cannot take it back after a lost connection', async () => {
    const { read } = hubThat({ closes: 1013 }, { error: unavailable }, { values: [value(1)] });
    expect(await take(read(), 1)).toEqual([{ n: 1 }]);
  });

  it('gives up after as many attempts as for a connection', async () => {
    const { read, asked } = hubThat({ values: [value(1)], error: unavailable }, { error: unavailable });
    await expect(take(read(), 9)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(asked()).toBe(4);
  });

  it('does not begin again for a reader who leaves during the pause', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const leaving = new AbortController();
    const { read, opened } = hubThat({ values: [value(1)], error: unavailable });
    const stream = read({ signal: leaving.signal });
    await stream.next();
    const next = expect(stream.next()).rejects.toMatchObject({ code: 'ABORTED' });
    // The error comes in the same turn as the value.
    await new Promise(setImmediate);
    leaving.abort();
    await next;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(opened()).toBe(1);
  });

  it('ends with each other error', async () => {
    const { read } = hubThat({ values: [value(1)], error: errorsOf('COST_LIMIT') });
    await expect(take(read(), 9)).rejects.toMatchObject({ code: 'COST_LIMIT' });
  });
});

describe('a connection that is kept alive', () => {
  const { keepAliveMs } = defaultClientLimits;
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

  it('is opened again where the hub does not answer a ping', async () => {
    let missed = 0;
    const { read, opened } = hubThat({ values: [value(1)], isDeaf: true }, { values: [value(2)] });
    const stream = read({ onReconnect: () => (missed += 1) });
    await stream.next();
    const next = stream.next();
    await vi.advanceTimersByTimeAsync(2 * keepAliveMs - 1);
    expect(opened()).toBe(1);
    // The rest of the wait, and the pause before the next attempt.
    await vi.advanceTimersByTimeAsync(1 + 2);
    expect([await next, opened(), missed]).toEqual([{ done: false, value: { n: 2 } }, 2, 1]);
    await stream.return();
  });

  it('stays where a value comes before the pong on a slow line', async () => {
    const { read, opened } = hubThat({ values: [value(1)], isSlow: true });
    const stream = read();
    await stream.next();
    for (const waitMs of [keepAliveMs, slowMs, slowMs]) {
      await vi.advanceTimersByTimeAsync(waitMs);
      await new Promise(setImmediate);
    }
    expect([await stream.next(), opened()]).toEqual([{ done: false, value: { n: 2 } }, 1]);
    await vi.advanceTimersByTimeAsync(keepAliveMs - 1);
    expect(opened()).toBe(1);
    await stream.return();
  });

  it('stays where the hub answers pings', async () => {
    const { read, opened } = hubThat({ values: [value(1)] });
    const stream = read();
    await stream.next();
    for (let ping = 0; ping < 3; ping++) {
      await vi.advanceTimersByTimeAsync(keepAliveMs);
      await new Promise(setImmediate);
    }
    expect(opened()).toBe(1);
    await stream.return();
  });
});

describe('a connection after too many invalid keys from its address', () => {
  it('is opened again', async () => {
    const { read, opened } = hubThat({ closes: 4429 }, { values: [value(1)] });
    expect(await take(read(), 1)).toEqual([{ n: 1 }]);
    expect(opened()).toBe(2);
  });

  it('is given up after as many attempts as each other', async () => {
    const { read, opened } = hubThat({ closes: 4429 });
    await expect(take(read(), 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(opened()).toBe(4);
  });
});

describe('a subscription that the hub refuses at first', () => {
  it.each<readonly [string, Answer]>([
    ['before it runs', { error: unavailable }],
    ['where it looks up what to follow', { values: [{ errors: unavailable }] }],
  ])('ends with its error: %s', async (_where, answer) => {
    const { read, asked } = hubThat(answer);
    await expect(take(read(), 1)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(asked()).toBe(1);
  });
});
