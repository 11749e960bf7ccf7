/** One simulated device at work: carries the core's effects out on a socket and two timers, and decides nothing. */
import type { Behaviour, DeviceEffect, SimulatedDevice } from '@flotilla/simulated-device';
import type { DeviceSocket, DeviceSocketEvents, Loss } from './device-socket.js';

/** Opens a socket for the identity that the device has at that moment. */
export type OpenSocket = (device: SimulatedDevice, events: DeviceSocketEvents) => DeviceSocket;

export interface RunningDeviceEvents {
  onconnected(): void;
  /** `loss` is absent where the device itself ended the connection. */
  ondisconnected(loss?: Loss): void;
  /** A connection attempt failed. */
  onfailed(loss: Loss): void;
}

export class RunningDevice {
  #socket: DeviceSocket | undefined;
  #isConnected = false;
  #isSwitchedOn = false;
  #wakeTimer: NodeJS.Timeout | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;

  constructor(
    readonly device: SimulatedDevice,
    private readonly openSocket: OpenSocket,
    private readonly events: RunningDeviceEvents,
  ) {}

  /** Connects now and from then on whenever the device wants to. */
  switchOn(): void {
    this.#isSwitchedOn = true;
    if (this.#socket === undefined) this.#connect();
  }

  /** Ends the connection and stays away until `switchOn`. Tools that run go on. */
  switchOff(how: 'graceful' | 'abrupt'): void {
    this.#isSwitchedOn = false;
    clearTimeout(this.#reconnectTimer);
    this.#hangUp(how);
    this.#carryOut(this.device.disconnected(Date.now()));
  }

  /** Switches off and forgets all timers. */
  dispose(): void {
    this.switchOff('graceful');
    clearTimeout(this.#wakeTimer);
    clearTimeout(this.#reconnectTimer);
  }

  behave(behaviour: Behaviour): void {
    this.#carryOut(this.device.behave(behaviour, Date.now()));
  }

  #connect(): void {
    clearTimeout(this.#reconnectTimer);
    this.#socket = this.openSocket(this.device, {
      onopen: () => this.#opened(),
      onmessage: (text) => this.#carryOut(this.device.receive(text, Date.now())),
      onloss: (loss) => this.#lost(loss),
    });
  }

  #opened(): void {
    this.#isConnected = true;
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

  #hangUp(how: 'graceful' | 'abrupt'): void {
    this.#socket?.close(how);
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
        case 'close':
          this.#hangUp(effect.how);
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

  #reconnectAt(at: number): void {
    clearTimeout(this.#reconnectTimer);
    if (!this.#isSwitchedOn) return;
    this.#reconnectTimer = setTimeout(
      () => {
        if (this.#socket === undefined) this.#connect();
      },
      Math.max(0, at - Date.now()),
    );
  }

  #wakeAt(at: number): void {
    clearTimeout(this.#wakeTimer);
    this.#wakeTimer = setTimeout(() => this.#carryOut(this.device.tick(Date.now())), Math.max(0, at - Date.now()));
  }
}
