/** Decides which messages an alert and its changes put into the outbox. */

export type NotificationKind = 'FIRED' | 'REPEATED' | 'RESOLVED';

/** A message of the outbox, as far as decisions need it. */
export interface SentNotification {
  readonly channelId: string;
  readonly kind: NotificationKind;
  readonly state: 'WAITING' | 'DELIVERED' | 'GIVEN_UP';
}

export interface Snoozes {
  /** Of the rule, ms since the Unix epoch. */
  readonly ruleUntil: number | undefined;
  /** Devices about which the rule sends nothing now. */
  readonly devices: ReadonlySet<string>;
}

/** Whether nothing may be sent: of a group, each device must be snoozed. */
export function isSilenced(snoozes: Snoozes, deviceIds: readonly (string | undefined)[], now: number): boolean {
  if (snoozes.ruleUntil !== undefined && snoozes.ruleUntil > now) return true;
  return deviceIds.length > 0 && deviceIds.every((id) => id !== undefined && snoozes.devices.has(id));
}

/** The channels that receive "resolved": those to which the firing was sent, or still will be. */
export function channelsToResolve(sent: readonly SentNotification[]): readonly string[] {
  const heard = sent.filter(({ kind, state }) => kind !== 'RESOLVED' && state !== 'GIVEN_UP');
  const resolved = new Set(sent.filter(({ kind }) => kind === 'RESOLVED').map(({ channelId }) => channelId));
  return [...new Set(heard.map(({ channelId }) => channelId))].filter((id) => !resolved.has(id));
}

/** The channels that receive the message again: those where none of the alert still waits. */
export function channelsToRepeat(channelIds: readonly string[], sent: readonly SentNotification[]): readonly string[] {
  const waiting = new Set(sent.filter(({ state }) => state === 'WAITING').map(({ channelId }) => channelId));
  return channelIds.filter((id) => !waiting.has(id));
}
