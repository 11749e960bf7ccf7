/** Notes starts of devices that sessions show: the uptime of a greeting, or a notification. */
import { isJsonObject } from '@flotilla/mcp';
import type { DeviceId, DeviceInfo } from '@flotilla/mcp';
import type { RestartStore } from '@flotilla/registry';
import type { GatewayLogger } from '../gateway-logger.js';

export interface BootSignsOptions {
  readonly restarts: Pick<RestartStore, 'noteBoot' | 'noteRestart'>;
  readonly clock: { now(): number };
  readonly logger: GatewayLogger;
}

/** Methods such as `notifications/restarted`. */
const restartMethod = /(^|[/._])(restarted|rebooted|booted)$/;
/** Characters of a reason. */
const reasonMax = 128;

export class BootSigns {
  constructor(private readonly options: BootSignsOptions) {}

  /** A greeting without an uptime shows nothing. */
  greeted(deviceId: DeviceId, { uptimeMs, firmwareVersion, resetReason: reason }: DeviceInfo): void {
    if (uptimeMs === undefined) return;
    const bootedAt = Math.round(this.options.clock.now() - uptimeMs);
    this.#note(deviceId, this.options.restarts.noteBoot({ deviceId, bootedAt, firmwareVersion, reason }));
  }

  notified(deviceId: DeviceId, method: string, params: unknown): void {
    if (!restartMethod.test(method)) return;
    const said: unknown = isJsonObject(params) ? (params['reset_reason'] ?? params['reason']) : undefined;
    const reason = typeof said === 'string' ? said.replace(/\p{Cc}+/gu, ' ').slice(0, reasonMax) : undefined;
    this.#note(deviceId, this.options.restarts.noteRestart({ deviceId, bootedAt: this.options.clock.now(), reason }));
  }

  #note(deviceId: DeviceId, written: Promise<void>): void {
    written.catch((error: unknown) => {
      this.options.logger.warn({ error, deviceId }, 'a start of a device was not recorded');
    });
  }
}
