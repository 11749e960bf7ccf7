import type { DeviceSession } from './device-session.js';

/** Sessions by state and transport, for metrics. */
export interface SessionCount {
  readonly state: string;
  readonly transport: string;
  readonly count: number;
}

export function countSessions(sessions: Iterable<DeviceSession>): readonly SessionCount[] {
  const counts = new Map<string, SessionCount>();
  for (const { state, connection } of sessions) {
    const key = `${state} ${connection.kind}`;
    counts.set(key, { state, transport: connection.kind, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}
