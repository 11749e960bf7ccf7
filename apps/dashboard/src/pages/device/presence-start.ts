/** Where the line of a device's presence begins and ends. */
interface KnownPast {
  /** Ms, as all times here. */
  readonly now: number;
  readonly hours: number;
  /** When each session began, latest first. */
  readonly connectedAt: readonly number[];
  /** Whether there may be earlier sessions than these. */
  readonly hasMore: boolean;
  /** When the device was first seen with each of its tool sets. */
  readonly toolsSeenAt: readonly number[];
}

interface KnownSession {
  /** RFC 3339. */
  readonly connectedAt: string;
  readonly disconnectedAt: string | null;
}

/** Ms. The clock of the viewer may be behind that of the hub: an open session lasts into now. */
export function presenceNow(clock: number, sessions: readonly KnownSession[]): number {
  const known = sessions.map(({ connectedAt, disconnectedAt }) =>
    disconnectedAt === null ? Date.parse(connectedAt) + 1 : Date.parse(disconnectedAt),
  );
  return Math.max(clock, ...known);
}

/** So many hours ago, or later: the time before is not known, or the device was not yet there. */
export function presenceStart({ now, hours, connectedAt, hasMore, toolsSeenAt }: KnownPast): number {
  const earliest = connectedAt.at(-1);
  const windowStart = now - hours * 3_600_000;
  if (earliest === undefined) return windowStart;
  // Tool sets are kept longer than sessions: a device that was away for long is not a new one.
  return Math.max(windowStart, hasMore ? earliest : Math.min(earliest, ...toolsSeenAt));
}
