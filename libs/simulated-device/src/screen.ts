/**
 * The banners that a simulated device has shown. Incomplete ones are ignored, as on real boards.
 * [xiaozhi §3.2]
 */
import type { FirmwareObject } from './json/firmware-json.js';

export interface ShownAlert {
  readonly status: string;
  readonly message: string;
  readonly emotion: string;
  readonly at: number;
}

/** Banners remembered per device: a handful for a test to look at. */
const ALERTS_KEPT_MAX = 16;

export class Screen {
  readonly #alerts: ShownAlert[] = [];

  /** Oldest first. */
  get alerts(): readonly ShownAlert[] {
    return this.#alerts;
  }

  alert(message: FirmwareObject, at: number): void {
    const [status, text, emotion] = ['status', 'message', 'emotion'].map((name) => message.get(name));
    if (typeof status !== 'string' || typeof text !== 'string' || typeof emotion !== 'string') return;
    if (this.#alerts.push({ status, message: text, emotion, at }) > ALERTS_KEPT_MAX) this.#alerts.shift();
  }
}
