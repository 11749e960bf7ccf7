import { describe, expect, it } from 'vitest';
import { defaultClientLimits } from '../client-options.js';
import { FlotillaError } from '../flotilla-error.js';
import { tailEvents, type TailedEvent } from './tail-events.js';

const limits = { ...defaultClientLimits, backOffMs: 1, backOffMsMax: 2, reconnectsMax: 3 };
const tailOf = (peer: object, within = limits) =>
  tailEvents(peer as unknown as Parameters<typeof tailEvents>[0], { after: 'c0' }, within);

const eventOf = (n: number): TailedEvent => ({
  cursor: `c${n}`,
  node: { id: `e${n}`, type: 'device.connected', deviceId: null, at: '2026-01-01T00:00:00Z', data: {} },
});

/**
 * A hub with events 1 to 5: the first subscription ends with `error` after event 2, the next one
 * delivers 5.
 */
function hubThatEnds(error: FlotillaError) {
  const asked: unknown[] = [];
  let subscriptions = 0;
  const peer = {
    request: async (_document: unknown, { after }: { readonly after?: string }) => {
      asked.push(after);
      const all = [1, 2, 3, 4].map(eventOf);
      const edges = subscriptions > 1 ? all.slice(all.findIndex(({ cursor }) => cursor === after) + 1) : [];
      return { events: { edges, pageInfo: { hasNextPage: false, endCursor: null } } };
    },
    subscribe: async function* () {
      subscriptions += 1;
      if (subscriptions === 1) {
        for (const n of [1, 2]) yield { eventAdded: eventOf(n) };
        throw error;
      }
      yield { eventAdded: eventOf(5) };
      await new Promise(() => undefined);
    },
  };
  return { asked, tail: tailOf(peer) };
}

const unavailable = new FlotillaError('UNAVAILABLE', 'PostgreSQL does not answer.');

/** A hub that answers reads with these, one after another, and has event 3 after a reconnect. */
function hubThatReads(...answers: (readonly TailedEvent[] | FlotillaError)[]) {
  let reads = 0;
  const peer = {
    request: async () => {
      reads += 1;
      const edges = answers.length > 1 ? answers.shift() : answers[0];
      if (edges instanceof FlotillaError) throw edges;
      return { events: { edges, pageInfo: { hasNextPage: false, endCursor: null } } };
    },
    subscribe: async function* (_document: unknown, _variables: unknown, options: { onConnected: () => void }) {
      await new Promise(setImmediate);
      options.onConnected();
      await new Promise(setImmediate);
      yield { eventAdded: eventOf(3) };
      await new Promise(() => undefined);
    },
  };
  return { reads: () => reads, tail: tailOf(peer) };
}

describe('the tail of events', () => {
  it('goes on from its cursor where the hub gave up a stream that was read too slowly', async () => {
    const { asked, tail } = hubThatEnds(new FlotillaError('TOO_SLOW', 'More than 2 events were waiting for you.'));
    const told: string[] = [];
    for await (const { node } of tail) {
      told.push(node.id);
      if (new Set(told).size === 5) break;
    }
    expect(told).toHaveLength(5);
    expect(new Set(told)).toEqual(new Set(['e1', 'e2', 'e3', 'e4', 'e5']));
    expect(asked.every((after) => after === 'c0')).toBe(true);
  });

  it('reads a gap later that the hub cannot read now, before newer events', async () => {
    const { tail } = hubThatReads([], unavailable, [eventOf(1), eventOf(2)]);
    const told: string[] = [];
    for await (const { node } of tail) if (told.push(node.id) === 2) break;
    expect(told).toEqual(['e1', 'e2']);
  });

  it.each(['UNREACHABLE', 'TIMEOUT', 'RATE_LIMITED'])(
    'reads a gap later after %s, as it connects again',
    async (code) => {
      const { tail } = hubThatReads([], new FlotillaError(code, 'The hub is gone again.'), [eventOf(1), eventOf(2)]);
      const told: string[] = [];
      for await (const { node } of tail) if (told.push(node.id) === 2) break;
      expect(told).toEqual(['e1', 'e2']);
    },
  );

  it('ends after as many failed reads of a gap as attempts for a connection', async () => {
    const { reads, tail } = hubThatReads([], unavailable);
    await expect(tail.next()).rejects.toBe(unavailable);
    expect(reads()).toBe(5);
  });

  it('ends at once with its subscription, also while it waits to read a gap again', async () => {
    const refused = new FlotillaError('UNAUTHENTICATED', 'The hub does not accept this key, or no longer.');
    let fail: (error: FlotillaError) => void = () => undefined;
    let reads = 0;
    const peer = {
      request: async () => {
        if (++reads > 1) {
          setImmediate(() => fail(refused));
          throw unavailable;
        }
        return { events: { edges: [], pageInfo: { hasNextPage: false, endCursor: null } } };
      },
      subscribe: async function* (_document: unknown, _variables: unknown, options: { onConnected: () => void }) {
        await new Promise(setImmediate);
        options.onConnected();
        yield await new Promise<never>((_resolve, reject) => (fail = reject));
      },
    };
    const patient = { ...limits, backOffMs: 3_600_000, backOffMsMax: 3_600_000 };
    await expect(tailOf(peer, patient).next()).rejects.toBe(refused);
  });

  it('ends if the hub cannot read at its beginning', async () => {
    await expect(hubThatReads(unavailable).tail.next()).rejects.toBe(unavailable);
  });

  it('ends with everything else that a stream ends with', async () => {
    const { tail } = hubThatEnds(
      new FlotillaError('UNAUTHENTICATED', 'The hub does not accept this key, or no longer.'),
    );
    const read = async () => {
      for await (const { cursor } of tail) expect(cursor).toMatch(/^c/);
    };
    await expect(read()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
