/**
 * The device's end of its connection. Collects the effects of one input; messages while offline are
 * lost.
 */
import type { TransportSettings } from '../boot/transport-settings.js';
import type { Firmware } from '../firmware/firmware-slots.js';
import type { HttpRequest } from './http-messages.js';
import type { ReconnectPlan } from './reconnect-plan.js';
import type { SoundChannel } from './sound-channel.js';

/** What a device has in its flash and needs to be the same device again. */
export interface DeviceFlash {
  readonly uuid: string;
  /** Transport settings by `namespace.name`. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** Absent while it is the one that the device came with. */
  readonly firmware?: Firmware | undefined;
}

/** What a person next to the device, or at its serial console, can see. */
export type DeviceNotice =
  | { readonly kind: 'code'; readonly code: string; readonly message: string }
  /** The firmware aborted: the hub sent what no real device survives, or a behaviour wanted it. */
  | { readonly kind: 'crash'; readonly reason: string }
  /** An image was fetched, checked and written; the device restarts into it. */
  | { readonly kind: 'installed'; readonly version: string }
  /** Assets were fetched and checked, bytes. */
  | { readonly kind: 'assetsLoaded'; readonly bytes: number }
  /** An image could not be downloaded or does not fit this device. */
  | { readonly kind: 'updateFailed'; readonly reason: string };

export type DeviceEffect =
  | { readonly kind: 'send'; readonly text: string }
  /** Send this packet of sound, framed as the connection has it. [xiaozhi §1.4] */
  | { readonly kind: 'audio'; readonly packet: Uint8Array }
  /** Sound uses this channel until `closeSound` or the next `openSound`. [xiaozhi §2.5] */
  | { readonly kind: 'openSound'; readonly channel: SoundChannel }
  | { readonly kind: 'closeSound' }
  /**
   * Close the connection: `graceful` with an MQTT DISCONNECT, `abrupt` without. Do not call
   * `disconnected` for it.
   */
  | { readonly kind: 'close'; readonly how: 'graceful' | 'abrupt' }
  /** Call `dial` at this time; replaces an earlier one. */
  | { readonly kind: 'reconnectAt'; readonly at: number }
  /**
   * Connect now, with the settings of the OTA answer; without an OTA address the driver knows the
   * hub.
   */
  | { readonly kind: 'connect'; readonly settings: TransportSettings | undefined }
  /** Make this request and give what comes of it to `answered`. */
  | { readonly kind: 'request'; readonly id: number; readonly request: HttpRequest }
  | { readonly kind: 'notice'; readonly notice: DeviceNotice }
  /** The flash has changed; who wants the device to live on in another process keeps it. */
  | { readonly kind: 'keep'; readonly flash: DeviceFlash }
  /** Call `tick` at this time; replaces an earlier one. */
  | { readonly kind: 'wakeAt'; readonly at: number };

const NO_EFFECTS: readonly DeviceEffect[] = Object.freeze([]);

export class Link {
  isConnected = false;
  /**
   * From the last hello answer; part of every message. Survives the end of a conversation. [xiaozhi
   * §2.6]
   */
  sessionId = '';
  /** Of sound over WebSocket, as the settings have it. [xiaozhi §1.3] */
  framing = 1;
  #effects: DeviceEffect[] = [];
  #wakeAt = Infinity;

  constructor(
    /** As the device was set up, and from each boot on as the OTA answer says. */
    public transport: 'mqtt' | 'websocket',
    private readonly reconnects: ReconnectPlan,
  ) {}

  effect(effect: DeviceEffect): void {
    this.#effects.push(effect);
  }

  connect(settings: TransportSettings | undefined): void {
    this.framing = settings?.transport === 'websocket' ? settings.version : 1;
    this.effect({ kind: 'connect', settings });
  }

  connected(): void {
    this.isConnected = true;
    this.reconnects.reached();
  }

  send(text: string): void {
    if (this.isConnected) this.#effects.push({ kind: 'send', text });
  }

  sendAudio(packet: Uint8Array): void {
    if (this.isConnected) this.#effects.push({ kind: 'audio', packet });
  }

  close(how: 'graceful' | 'abrupt'): void {
    if (!this.isConnected) return;
    this.isConnected = false;
    this.#effects.push({ kind: 'close', how });
  }

  reconnectAt(at: number): void {
    this.#effects.push({ kind: 'reconnectAt', at });
  }

  /** After a loss, or an attempt that failed. */
  reconnectLater(now: number, wasConnected: boolean): void {
    const at = this.reconnects.next(now, { wasConnected, transport: this.transport });
    if (at !== undefined) this.reconnectAt(at);
  }

  /** The effects gathered, and the next time to wake at where that has changed. */
  take(wakeAt: number): readonly DeviceEffect[] {
    if (wakeAt !== this.#wakeAt) {
      this.#wakeAt = wakeAt;
      if (wakeAt !== Infinity) this.#effects.push({ kind: 'wakeAt', at: wakeAt });
    }
    if (this.#effects.length === 0) return NO_EFFECTS;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /** After a tick the old alarm is spent, so the same time would have to be asked for again. */
  forgetWake(): void {
    this.#wakeAt = Infinity;
  }
}
