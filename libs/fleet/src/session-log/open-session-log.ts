/** Opens the log of a device's sessions for a reader, and records that in the audit trail. */
import type { Bus, SessionLogEntry } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { noSuchDevice, refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** A log is for a person who looks now, ms. */
export const SESSION_LOG_MS_MAX = 15 * 60_000;
/** Readers at once in one process: each costs its device's messages a second time. */
export const SESSION_LOG_READERS_MAX = 20;
/** Gateways stop to log this long after the last sign of a reader, ms. */
const WANTED_MS = 15_000;
const RENEW_MS = 5_000;

interface SessionLogDeps {
  readonly registry: Pick<Registry, 'viewFor' | 'audit'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
  readonly readers: SessionLogReaders;
}

/** Counts the open logs of this process. */
export class SessionLogReaders {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** False: there are too many. Otherwise `leave` has to follow. */
  enter(): boolean {
    if (this.#count >= SESSION_LOG_READERS_MAX) return false;
    this.#count += 1;
    return true;
  }

  leave(): void {
    this.#count -= 1;
  }
}

/** An open log. `close` has to be called; it does nothing the second time. */
export interface OpenSessionLog {
  readonly startedAt: number;
  /** It ends at this time at the latest, ms since the Unix epoch. */
  readonly endsAt: number;
  readonly close: () => void;
}

export interface SessionLogReader {
  readonly onEntry: (entry: SessionLogEntry) => void;
  /** The time is over. */
  readonly onEnd: () => void;
}

export async function openSessionLog(
  deps: SessionLogDeps,
  deviceId: string,
  actor: Actor,
  reader: SessionLogReader,
): Promise<{ readonly log?: OpenSessionLog; readonly refusal?: Refusal }> {
  const { clock, readers, registry } = deps;
  const device = await registry.viewFor(actor).devices.find(deviceId);
  if (device === undefined) return { refusal: noSuchDevice(deviceId, ['deviceId']) };
  if (!readers.enter()) {
    const message = `At most ${SESSION_LOG_READERS_MAX} logs of sessions may be open. Close another one first.`;
    return { refusal: refuse('OVERLOADED', ['deviceId'], message) };
  }
  const startedAt = clock.now();
  try {
    await registry.audit.record({
      ...sourceOf(actor),
      action: 'device.session_log_opened',
      subject: `device:${device.id}`,
      at: startedAt,
      data: { minutesMax: SESSION_LOG_MS_MAX / 60_000 },
    });
  } catch (error) {
    readers.leave();
    throw error;
  }
  return { log: startLog(deps, device.id, { startedAt, reader }) };
}

function startLog(
  { bus: { feed }, clock, readers }: SessionLogDeps,
  deviceId: DeviceId,
  { startedAt, reader }: { readonly startedAt: number; readonly reader: SessionLogReader },
): OpenSessionLog {
  const endsAt = startedAt + SESSION_LOG_MS_MAX;
  let cancelRenewal: () => void = () => undefined;
  const unsubscribe = feed.subscribe('sessionLog', (entry) => {
    if (entry.deviceId === deviceId) reader.onEntry(entry);
  });
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    cancelRenewal();
    cancelEnd();
    unsubscribe();
    readers.leave();
  };
  const renew = (): void => {
    feed.publish('sessionLogWanted', { deviceId, forMs: Math.min(WANTED_MS, Math.max(0, endsAt - clock.now())) });
    cancelRenewal = clock.setTimer(RENEW_MS, renew);
  };
  const cancelEnd = clock.setTimer(endsAt - clock.now(), () => {
    close();
    reader.onEnd();
  });
  renew();
  return { startedAt, endsAt, close };
}
