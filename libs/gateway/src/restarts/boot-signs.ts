/**
 * Notes starts of devices that sessions show: the uptime of a greeting, or a notification. Starts
 * are stored by the wall clock: when it is set, the starts that this process noted move with it.
 */
import { uptime } from 'node:os';
import { clipText, isJsonObject } from '@flotilla/mcp';
import type { DeviceId, DeviceInfo } from '@flotilla/mcp';
import { bootDriftMax, sameBootMs, type RestartStore } from '@flotilla/registry';
import type { GatewayLogger } from '../gateway-logger.js';

interface BootSignsOptions {
  readonly restarts: Pick<RestartStore, 'noteBoot' | 'noteRestart' | 'moveBoots'>;
  readonly clock: { now(): number };
  /** Ms since any moment, by a clock that is never set and counts while the machine sleeps. */
  readonly steadyNow?: () => number;
  readonly logger: GatewayLogger;
}

/** Methods such as `notifications/restarted`. */
const restartMethod = /(^|[/._])(restarted|rebooted|booted)$/;
/** Characters of a reason. */
const reasonMax = 128;

/** How often the clock is compared, ms. */
const compareEveryMs = 30_000;
/** A difference that starts move by, ms; smaller ones are well within `sameBootMs`. */
const stepMinMs = 10_000;
/** Devices whose starts are remembered. */
const devicesMax = 50_000;

export class BootSigns {
  /** Starts by device, by the wall clock as it is set now; the latest noted is last. */
  readonly #bootedAt = new Map<DeviceId, number>();
  /** The wall clock less the steady one. */
  #offsetMs: number;
  #moved: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: BootSignsOptions) {
    this.#offsetMs = this.#readOffset();
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.compareClocks(), compareEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A greeting without an uptime shows nothing. */
  greeted(deviceId: DeviceId, { uptimeMs, firmwareVersion, resetReason: reason }: DeviceInfo): void {
    if (uptimeMs === undefined) return;
    void this.compareClocks();
    const bootedAt = Math.round(this.options.clock.now() - uptimeMs);
    this.#remember(deviceId, this.#startOf(deviceId, bootedAt, uptimeMs));
    this.#note(deviceId, () =>
      this.options.restarts.noteBoot({ deviceId, bootedAt, uptimeMs, firmwareVersion, reason }),
    );
  }

  notified(deviceId: DeviceId, method: string, params: unknown): void {
    if (!restartMethod.test(method)) return;
    const said: unknown = isJsonObject(params) ? (params['reset_reason'] ?? params['reason']) : undefined;
    const reason = typeof said === 'string' ? clipText(said.replace(/\p{Cc}+/gu, ' '), reasonMax) : undefined;
    void this.compareClocks();
    const bootedAt = this.options.clock.now();
    this.#remember(deviceId, bootedAt);
    this.#note(deviceId, () => this.options.restarts.noteRestart({ deviceId, bootedAt, reason }));
  }

  /** Moves the stored starts if the wall clock was set; resolves once they are moved. */
  compareClocks(): Promise<void> {
    const offsetMs = this.#readOffset();
    const stepMs = Math.round(offsetMs - this.#offsetMs);
    if (Math.abs(stepMs) < stepMinMs) return this.#moved;
    this.#offsetMs = offsetMs;
    const { restarts, logger } = this.options;
    const boots = [...this.#bootedAt].map(([deviceId, knownAt]) => ({ deviceId, knownAt, movedTo: knownAt + stepMs }));
    for (const { deviceId, movedTo } of boots) this.#bootedAt.set(deviceId, movedTo);
    logger.warn({ stepMs, devices: boots.length }, 'the clock was set: the noted starts of devices move with it');
    this.#moved = this.#moved
      .then(() => restarts.moveBoots(boots))
      .catch((error: unknown) => {
        logger.warn({ error }, 'the noted starts of devices were not moved; their next restarts may be wrong');
      });
    return this.#moved;
  }

  #readOffset(): number {
    const { clock, steadyNow = () => uptime() * 1_000 } = this.options;
    return clock.now() - steadyNow();
  }

  /** The start that is stored: the registry compares in the same way. */
  #startOf(deviceId: DeviceId, bootedAt: number, uptimeMs: number): number {
    const known = this.#bootedAt.get(deviceId);
    if (known === undefined) return bootedAt;
    const sameMs = Math.max(sameBootMs, bootDriftMax * (bootedAt - known + uptimeMs));
    return bootedAt - known > sameMs ? bootedAt : known;
  }

  #remember(deviceId: DeviceId, bootedAt: number): void {
    this.#bootedAt.delete(deviceId);
    this.#bootedAt.set(deviceId, bootedAt);
    for (const oldest of this.#bootedAt.keys()) {
      if (this.#bootedAt.size <= devicesMax) return;
      this.#bootedAt.delete(oldest);
    }
  }

  #note(deviceId: DeviceId, write: () => Promise<void>): void {
    this.#moved.then(write).catch((error: unknown) => {
      this.options.logger.warn({ error, deviceId }, 'a start of a device was not recorded');
    });
  }
}
