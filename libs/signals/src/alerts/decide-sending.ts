/** Decides what a channel sends next: one message at a time, which may be about several alerts. */
import type { NotificationKind } from './decide-notifying.js';

/** The shortest time between two messages to one channel, ms. */
export const CHANNEL_PACE_MS = 2_000;
/** Alerts in one message: more do not fit into a chat. */
export const ALERTS_PER_MESSAGE = 50;
/** How long an undelivered message is tried, ms: an operator then looks at the console. */
export const GIVEN_UP_AFTER_MS = 24 * 3_600_000;
/** The first wait after a failed attempt, and the longest, ms. */
const RETRY_MS = 5_000;
const RETRY_MS_MAX = 600_000;

/** A message of the outbox that is neither delivered nor given up. */
export interface WaitingNotification {
  /** UUIDv7, in the order of creation. */
  readonly id: string;
  readonly alertId: string;
  readonly kind: NotificationKind;
  /** Set at the first attempt: the same message is then sent again. */
  readonly messageId: string | undefined;
  /** For RESOLVED: whether the channel has received the firing. */
  readonly isFiringDelivered: boolean;
}

export interface NextMessage {
  readonly notifications: readonly WaitingNotification[];
  /** Of an attempt whose end is not known; undefined for a new message. */
  readonly messageId: string | undefined;
}

/** `waiting` in the order of creation. Undefined where nothing can be sent. */
export function nextMessage(waiting: readonly WaitingNotification[]): NextMessage | undefined {
  const begun = waiting.find(({ messageId }) => messageId !== undefined)?.messageId;
  if (begun !== undefined)
    return { messageId: begun, notifications: waiting.filter(({ messageId }) => messageId === begun) };
  const ready = waiting.filter(({ kind, isFiringDelivered }) => kind !== 'RESOLVED' || isFiringDelivered);
  const [first] = ready;
  if (first === undefined) return undefined;
  const isResolved = first.kind === 'RESOLVED';
  const alike = ready.filter(({ kind }) => (kind === 'RESOLVED') === isResolved);
  return { messageId: undefined, notifications: alike.slice(0, ALERTS_PER_MESSAGE) };
}

/** Ms until the next attempt after so many failures in a row. */
export function retryAfterMs(failures: number): number {
  return Math.min(RETRY_MS * 2 ** Math.min(Math.max(failures - 1, 0), 20), RETRY_MS_MAX);
}
