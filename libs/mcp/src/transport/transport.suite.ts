/** The contract of Transport, as tests that run against every implementation. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CloseReason, Transport } from './transport.js';

/** The remote end of the path under test. */
interface FarEnd {
  /** Sends one text message to the near end. */
  send(text: string): void;
  /** Ends the path from the remote end. */
  close(): void;
  /** All text messages that arrived from the near end, in order. */
  readonly received: readonly string[];
}

/**
 * `near` has not been started and has no callbacks. `dispose` frees the resources of the medium.
 */
export interface TransportUnderTest {
  readonly near: Transport;
  readonly far: FarEnd;
  dispose?(): Promise<void> | void;
}

/** Long enough for a loopback socket to deliver unexpected messages. */
async function settleDown(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await turn();
}

/** Records every callback in order, and whether one ran inside `send`, `start` or `close`. */
function listenTo(near: Transport) {
  const log = { messages: [] as string[], closes: [] as CloseReason[], isInside: false, cameInside: false };
  near.onmessage = (text) => {
    log.cameInside ||= log.isInside;
    log.messages.push(text);
  };
  near.onclose = (reason) => {
    log.cameInside ||= log.isInside;
    log.closes.push(reason);
  };
  near.onerror = () => {
    log.cameInside ||= log.isInside;
  };
  const inside = <Value>(act: () => Value): Value => {
    log.isInside = true;
    try {
      return act();
    } finally {
      log.isInside = false;
    }
  };
  return { log, inside };
}

/** Declares the suite for one implementation. `make` returns a new connected pair for each test. */
export function describeTransport(name: string, make: () => Promise<TransportUnderTest> | TransportUnderTest): void {
  describe(`${name} keeps the transport contract`, () => {
    let current: TransportUnderTest | undefined;
    const open = async () => {
      current = await make();
      return { ...current, ...listenTo(current.near) };
    };
    afterEach(async () => {
      current?.near.close('hub_closed');
      await current?.dispose?.();
      current = undefined;
    });

    it('carries whole messages in both directions, in order and in any script', async () => {
      const { near, far, log } = await open();
      near.start();
      const texts = ['{"a":1}', '灯を点ける 💡', 'x'.repeat(9000)];
      for (const text of texts) expect(near.send(text)).toBe(true);
      for (const text of texts) far.send(text);
      await vi.waitFor(() => expect(far.received).toEqual(texts));
      await vi.waitFor(() => expect(log.messages).toEqual(texts));
    });

    it('delivers in order, without loss, what was sent with `isMoreToCome`', async () => {
      const { near, far } = await open();
      near.start();
      expect([near.send('first', true), near.send('second')]).toEqual([true, true]);
      await vi.waitFor(() => expect(far.received).toEqual(['first', 'second']));
      near.send('alone', true);
      await vi.waitFor(() => expect(far.received).toEqual(['first', 'second', 'alone']));
    });

    it('delivers nothing before start', async () => {
      const { near, far, log } = await open();
      far.send('early');
      await settleDown();
      expect(log.messages).toEqual([]);
      near.start();
      far.send('later');
      await vi.waitFor(() => expect(log.messages.at(-1)).toBe('later'));
    });

    it('runs no callback inside send or start', async () => {
      const { near, far, log, inside } = await open();
      far.send('one');
      inside(() => near.start());
      inside(() => near.send('two'));
      far.send('three');
      far.close();
      for (let round = 0; round < 50; round += 1) inside(() => near.send('more'));
      await vi.waitFor(() => expect(log.closes).toHaveLength(1));
      expect(log.cameInside).toBe(false);
    });

    it('reports the end once, with the given reason, when the near end closes', async () => {
      const { near, log } = await open();
      near.start();
      near.close('taken_over');
      near.close('hub_stopping');
      await vi.waitFor(() => expect(log.closes).toEqual(['taken_over']));
      await settleDown();
      expect(log.closes).toEqual(['taken_over']);
    });

    it('reports the end once when the far end closes', async () => {
      const { near, far, log } = await open();
      near.start();
      far.close();
      await vi.waitFor(() => expect(log.closes).toHaveLength(1));
      expect(['device_closed', 'connection_lost']).toContain(log.closes[0]);
      near.close('hub_closed');
      await settleDown();
      expect(log.closes).toHaveLength(1);
    });

    it('accepts and delivers nothing after close', async () => {
      const { near, far, log } = await open();
      near.start();
      near.close('hub_closed');
      expect(near.send('late')).toBe(false);
      far.send('late');
      await settleDown();
      expect(log.messages).toEqual([]);
      expect(far.received).toEqual([]);
    });

    it('accepts nothing after the far end closed', async () => {
      const { near, far, log } = await open();
      near.start();
      far.close();
      await vi.waitFor(() => expect(log.closes).toHaveLength(1));
      expect(near.send('late')).toBe(false);
    });
  });
}
