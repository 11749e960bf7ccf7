/**
 * One running device: carries the core's effects out on a socket and two timers, and decides
 * nothing.
 */
import type {
  Behaviour,
  DeviceEffect,
  DeviceFlash,
  DeviceNotice,
  HttpRequest,
  HttpResponse,
  SimulatedDevice,
  SoundChannel,
  TransportSettings,
} from '@flotilla/simulated-device';
import type { DeviceSocket, DeviceSocketEvents, Loss } from './sockets/device-socket.js';
import type { UdpSound } from './sockets/udp-sound.js';

/** What a device has around it: the ways to the hub, and a place for its flash. */
export interface Surroundings {
  /** Opens a socket for the current identity; `settings` are those of the OTA answer, if any. */
  open(device: SimulatedDevice, settings: TransportSettings | undefined, events: DeviceSocketEvents): DeviceSocket;
  openSound(channel: SoundChannel, onpacket: () => void): UdpSound;
  /** Rejects where there is no answer. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** Stores the flash for the next start of the device. */
  keep(flash: DeviceFlash): void;
}

/** A timer takes 24.8 days. A device that is woken early asks to be woken again. */
const LONGEST_WAIT_MS = 86_400_000;
/** Successful answers of an activation request; others are failures. [xiaozhi §7.4] */
const GOOD_STATUS: readonly number[] = [200, 202];

export interface RunningDeviceEvents {
  onconnected(): void;
  /** `loss` is absent where the device itself ended the connection. */
  ondisconnected(loss?: Loss): void;
  /** A connection attempt or a request failed. */
  onfailed(loss: Loss): void;
  onnotice(deviceId: string, notice: DeviceNotice): void;
}

export class RunningDevice {
  /** The MAC that the device began with. */
  readonly #id: string;
  #socket: DeviceSocket | undefined;
  #isConnected = false;
  #isSwitchedOn = false;
  /** A connection that the hub still believes in. */
  #ghost: DeviceSocket | undefined;
  readonly #disposal = new AbortController();
  #sound: UdpSound | undefined;
  #wakeTimer: NodeJS.Timeout | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #returnTimer: NodeJS.Timeout | undefined;

  constructor(
    readonly device: SimulatedDevice,
    private readonly surroundings: Surroundings,
    private readonly events: RunningDeviceEvents,
  ) {
    this.#id = device.identity.mac;
  }

  /** Connects, or boots, now and from then on whenever the device wants to. */
  switchOn(): void {
    this.#isSwitchedOn = true;
    clearTimeout(this.#returnTimer);
    this.#dial();
  }

  /** Ends the connection and stays away until `switchOn`, or for `awayMs`. Tools that run go on. */
  switchOff(how: 'graceful' | 'abrupt' | 'silent', awayMs?: number): void {
    this.#isSwitchedOn = false;
    clearTimeout(this.#reconnectTimer);
    clearTimeout(this.#returnTimer);
    this.#hangUp(how);
    this.#carryOut(this.device.disconnected(Date.now()));
    if (awayMs !== undefined) this.#returnTimer = setTimeout(() => this.switchOn(), awayMs);
  }

  /** Switches off and forgets all timers. */
  dispose(): void {
    this.#disposal.abort();
    this.switchOff('graceful');
    this.#layGhost();
    this.#closeSound();
    clearTimeout(this.#wakeTimer);
  }

  behave(behaviour: Behaviour): void {
    this.#carryOut(this.device.behave(behaviour, Date.now()));
  }

  #dial(): void {
    clearTimeout(this.#reconnectTimer);
    if (this.#socket === undefined) this.#carryOut(this.device.dial(Date.now()));
  }

  #connect(settings: TransportSettings | undefined): void {
    if (!this.#isSwitchedOn) return;
    this.#socket = this.surroundings.open(this.device, settings, {
      onopen: () => this.#opened(),
      onmessage: (text) => this.#carryOut(this.device.receive(text, Date.now())),
      onaudio: () => this.device.hear(),
      onloss: (loss) => this.#lost(loss),
    });
  }

  #opened(): void {
    this.#isConnected = true;
    this.#layGhost();
    this.events.onconnected();
    this.#carryOut(this.device.connected(Date.now()));
  }

  #lost(loss: Loss): void {
    const wasConnected = this.#isConnected;
    this.#socket = undefined;
    this.#isConnected = false;
    if (wasConnected) this.events.ondisconnected(loss);
    else this.events.onfailed(loss);
    this.#carryOut(this.device.disconnected(Date.now()));
  }

  /**
   * Without Wi-Fi, requests fail as if the hub did not answer. The device reports the result of
   * downloads.
   */
  async #request(id: number, request: HttpRequest): Promise<void> {
    const response = this.#isSwitchedOn ? await this.#exchange(request) : undefined;
    if (!this.#disposal.signal.aborted)
      this.#carryOut(this.device.answered(id, this.#isSwitchedOn ? response : undefined, Date.now()));
  }

  async #exchange(request: HttpRequest): Promise<HttpResponse | undefined> {
    try {
      const response = await this.surroundings.exchange(request, this.#disposal.signal);
      if (request.download === undefined && !GOOD_STATUS.includes(response.status))
        this.events.onfailed({ kind: 'unanswered', detail: `HTTP ${response.status}: ${response.body.slice(0, 200)}` });
      return response;
    } catch (error) {
      if (request.download === undefined && !this.#disposal.signal.aborted)
        this.events.onfailed({ kind: 'unanswered', detail: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
  }

  /** The new connection closes the old one for the hub. */
  #layGhost(): void {
    this.#ghost?.close('abrupt');
    this.#ghost = undefined;
  }

  #hangUp(how: 'graceful' | 'abrupt' | 'silent'): void {
    this.#socket?.close(how);
    if (how === 'silent' && this.#socket) {
      this.#layGhost();
      this.#ghost = this.#socket;
    }
    this.#socket = undefined;
    if (this.#isConnected) this.events.ondisconnected();
    this.#isConnected = false;
  }

  #carryOut(effects: readonly DeviceEffect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'send':
          this.#socket?.send(effect.text);
          break;
        case 'audio':
          if (this.#sound === undefined) this.#socket?.sendAudio?.(effect.packet);
          else this.#sound.send(effect.packet);
          break;
        case 'openSound':
          this.#closeSound();
          this.#sound = this.surroundings.openSound(effect.channel, () => this.device.hear());
          break;
        case 'closeSound':
          this.#closeSound();
          break;
        case 'close':
          this.#hangUp(effect.how);
          break;
        case 'connect':
          this.#connect(effect.settings);
          break;
        case 'request':
          void this.#request(effect.id, effect.request);
          break;
        case 'keep':
          this.surroundings.keep(effect.flash);
          break;
        case 'notice':
          this.events.onnotice(this.#id, effect.notice);
          break;
        case 'reconnectAt':
          this.#reconnectAt(effect.at);
          break;
        case 'wakeAt':
          this.#wakeAt(effect.at);
          break;
      }
    }
  }

  #closeSound(): void {
    this.#sound?.close();
    this.#sound = undefined;
  }

  #reconnectAt(at: number): void {
    clearTimeout(this.#reconnectTimer);
    if (!this.#isSwitchedOn) return;
    this.#reconnectTimer = setTimeout(() => this.#dial(), Math.max(0, at - Date.now()));
  }

  #wakeAt(at: number): void {
    clearTimeout(this.#wakeTimer);
    if (this.#disposal.signal.aborted) return;
    const waitMs = Math.min(Math.max(0, at - Date.now()), LONGEST_WAIT_MS);
    this.#wakeTimer = setTimeout(() => this.#carryOut(this.device.tick(Date.now())), waitMs);
  }
}
