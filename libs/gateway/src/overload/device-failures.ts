/**
 * Limits failed and unauthenticated attempts per remote address, for all transports together.
 * A device that authenticated before may always try again: many boards may share one address.
 */
import { LRUCache } from 'lru-cache';
import { addressKey, AttemptLimiter, defaultAttemptLimits } from './attempt-limiter.js';
import type { AttemptLimits } from './attempt-limiter.js';

/** Logins and addresses that are remembered, each: more than a process has sessions. */
const PROVEN_MAX = 40_000;

export class DeviceFailures {
  readonly #limiter: AttemptLimiter;
  readonly #addresses = new LRUCache<string, true>({ max: PROVEN_MAX });
  readonly #logins = new LRUCache<string, true>({ max: PROVEN_MAX });

  constructor(
    private readonly clock: { now(): number },
    limits: AttemptLimits = defaultAttemptLimits,
  ) {
    this.#limiter = new AttemptLimiter(limits);
  }

  /** Whether a connection from this address is accepted. */
  mayConnect(address: string | undefined): boolean {
    return !this.#isExhausted(address) || this.#addresses.has(addressKey(address ?? ''));
  }

  /** Whether credentials may be checked. `login` names their owner: a client id, a device id. */
  mayTry(address: string | undefined, login: string): boolean {
    return !this.#isExhausted(address) || this.#logins.has(login);
  }

  failed(address: string | undefined): void {
    this.#limiter.take(address, this.clock.now());
  }

  succeeded(address: string | undefined, login: string): void {
    this.#addresses.set(addressKey(address ?? ''), true);
    this.#logins.set(login, true);
  }

  #isExhausted(address: string | undefined): boolean {
    return this.#limiter.isExhausted(address, this.clock.now());
  }
}
