/** Decides what a channel sends next: one message at a time, which may be about several alerts. */
import type { NotificationKind } from './decide-notifying.js';

/** The shortest time between two messages to one channel, ms. */
export const CHANNEL_PACE_MS = 2_000;
/** Alerts in one message: more do not fit into a chat. */
const ALERTS_PER_MESSAGE = 50;
/** How long an undelivered message is tried, ms: an operator then looks at the console. */
export const GIVEN_UP_AFTER_MS = 24 * 3_600_000;
/** The first wait after a failed attempt, and the longest, ms. */
const RETRY_MS = 5_000;
const RETRY_MS_MAX = 600_000;

/**
 * After so many failures in a row other messages have their turn: the other end may refuse only
 * this one.
 */
const TRIES_IN_A_ROW = 3;
/**
 * With so many failed messages the other end is away. What comes then waits, to be sent in few
 * messages.
 */
const FAILED_MESSAGES_MAX = 10;

/** A message of the outbox that is neither delivered nor given up. */
export interface WaitingNotification {
  /** UUIDv7, in the order of creation. */
  readonly id: string;
  readonly alertId: string;
  readonly ruleId: string;
  /** The device, job or webhook. Undefined for a group, which may have any device of the rule. */
  readonly subject: string | undefined;
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

/**
 * `waiting` in the order of creation; `failures` of the channel in a row. Undefined where nothing
 * can be sent.
 */
export function nextMessage(waiting: readonly WaitingNotification[], failures: number): NextMessage | undefined {
  const begun = [...new Set(waiting.flatMap(({ messageId }) => messageId ?? []))];
  const mayPass = failures >= TRIES_IN_A_ROW && begun.length < FAILED_MESSAGES_MAX;
  const fresh = begun.length === 0 || mayPass ? freshOnes(waiting) : [];
  if (fresh.length > 0) return { messageId: undefined, notifications: fresh };
  const again = begun[failures % begun.length];
  if (again === undefined) return undefined;
  return { messageId: again, notifications: waiting.filter(({ messageId }) => messageId === again) };
}

/**
 * Picks notifications of one type for a new message. None overtakes an earlier one about the same
 * subject.
 */
function freshOnes(waiting: readonly WaitingNotification[]): readonly WaitingNotification[] {
  const taken: WaitingNotification[] = [];
  const left: WaitingNotification[] = [];
  for (const each of waiting) {
    const isResolved = each.kind === 'RESOLVED';
    const isReady = each.messageId === undefined && (!isResolved || each.isFiringDelivered);
    const isAlike = taken.every(({ kind }) => (kind === 'RESOLVED') === isResolved);
    const isNext = !left.some((earlier) => areAboutTheSame(earlier, each));
    if (isReady && isAlike && isNext && taken.length < ALERTS_PER_MESSAGE) taken.push(each);
    else left.push(each);
  }
  return taken;
}

function areAboutTheSame(one: WaitingNotification, other: WaitingNotification): boolean {
  if (one.ruleId !== other.ruleId) return false;
  return one.subject === undefined || other.subject === undefined || one.subject === other.subject;
}

/** Ms until the next attempt after so many failures in a row. */
export function retryAfterMs(failures: number): number {
  return Math.min(RETRY_MS * 2 ** Math.min(Math.max(failures - 1, 0), 20), RETRY_MS_MAX);
}
