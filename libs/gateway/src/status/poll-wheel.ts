/**
 * Says when each session's state is due: once per interval, in a second given by the hash of the
 * device id. So neither a hub that starts nor a fleet that returns causes a burst.
 */
import { createHash } from 'node:crypto';
import type { WatchedSession } from './watched-session.js';

export class PollWheel {
  /** Sessions by second of the interval. */
  readonly #slots = new Map<number, Set<WatchedSession>>();
  #lookedAt: number | undefined;

  /** 0 for never. */
  constructor(private readonly intervalSeconds: number) {}

  add(session: WatchedSession): void {
    if (this.intervalSeconds === 0) return;
    const slot = this.#slotOf(session);
    const sessions = this.#slots.get(slot) ?? new Set();
    sessions.add(session);
    this.#slots.set(slot, sessions);
  }

  remove(session: WatchedSession): void {
    if (this.intervalSeconds === 0) return;
    const slot = this.#slotOf(session);
    const sessions = this.#slots.get(slot);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#slots.delete(slot);
  }

  /** Returns the sessions that became due. A stalled process catches up each second once. */
  due(now: number): readonly WatchedSession[] {
    const second = Math.floor(now / 1_000);
    const from = Math.max(this.#lookedAt ?? second, second - this.intervalSeconds);
    this.#lookedAt = second;
    const due: WatchedSession[] = [];
    for (let at = from + 1; at <= second; at++) due.push(...(this.#slots.get(at % this.intervalSeconds) ?? []));
    return due;
  }

  #slotOf({ deviceId }: WatchedSession): number {
    return createHash('sha256').update(deviceId).digest().readUInt32BE(0) % this.intervalSeconds;
  }
}
