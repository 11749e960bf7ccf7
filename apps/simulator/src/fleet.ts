/** All simulated devices of this process: makes them from the seed, connects them at the wanted pace and finds them by id. */
import { SimulatedDevice, identityOf, profileNames, profiles, seededRandom, type ProfileName } from '@flotilla/simulated-device';
import { FleetSecret, mqttCredentials, webSocketToken } from './credentials.js';
import type { DeviceSocket, DeviceSocketEvents, SocketTarget } from './device-socket.js';
import { MqttSocket } from './mqtt-socket.js';
import type { SimulatorOptions } from './options.js';
import { RunningDevice, type RunningDeviceEvents } from './running-device.js';
import { WebSocketSocket } from './websocket-socket.js';

/** In a mixed fleet every fourth device is one that connects for conversations only. */
const WEBSOCKET_EVERY = 4;
/** How often the pacer lets the next devices go. */
const PACE_STEP_MS = 20;

export class Fleet {
  readonly #devices = new Map<string, RunningDevice>();
  readonly #secret: FleetSecret;
  #pacer: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: SimulatorOptions,
    events: RunningDeviceEvents,
  ) {
    this.#secret = new FleetSecret(options.secret, options.dataDir);
    for (let index = 0; index < options.devices; index++) {
      const device = makeDevice(options, index);
      const target = { localAddress: localAddressOf(options, index) };
      this.#devices.set(
        device.identity.mac,
        new RunningDevice(device, (self, socketEvents) => this.#open(self, target, socketEvents), events),
      );
    }
  }

  get size(): number {
    return this.#devices.size;
  }

  get secretFile(): string {
    return this.#secret.file;
  }

  get hasSecret(): boolean {
    return this.#secret.read() !== undefined;
  }

  /** Lets the devices connect, `rate` of them per second or all at once. */
  start(): void {
    const waiting = this.#devices.values();
    const perStep = this.options.rate === 0 ? Infinity : (this.options.rate * PACE_STEP_MS) / 1000;
    let allowed = 0;
    const step = () => {
      for (allowed += perStep; allowed >= 1; allowed--) {
        const next = waiting.next();
        if (next.done) return clearInterval(this.#pacer);
        next.value.switchOn();
      }
    };
    this.#pacer = setInterval(step, PACE_STEP_MS);
    step();
  }

  stop(): void {
    clearInterval(this.#pacer);
    for (const device of this.#devices.values()) device.dispose();
  }

  /** The devices that a command means: one by its first id, or `*` for all. Empty where there is no such device. */
  select(device: string): RunningDevice[] {
    if (device === '*') return [...this.#devices.values()];
    const found = this.#devices.get(device);
    return found ? [found] : [];
  }

  entries(): IterableIterator<[string, RunningDevice]> {
    return this.#devices.entries();
  }

  #open(device: SimulatedDevice, { localAddress }: { localAddress: string | undefined }, events: DeviceSocketEvents): DeviceSocket {
    const { host, mqttPort, httpPort, keepAliveSeconds, mqttLevel } = this.options;
    const { identity } = device;
    const secret = this.#secret.read();
    const target = (port: number): SocketTarget => ({ host, port, ...(localAddress !== undefined && { localAddress }) });
    if (device.transport === 'websocket') {
      const token = secret === undefined ? undefined : webSocketToken(secret, identity, Date.now());
      return new WebSocketSocket(target(httpPort), { identity, token }, events);
    }
    const credentials = secret === undefined ? undefined : mqttCredentials(secret, identity.clientId);
    return new MqttSocket(
      target(mqttPort),
      { clientId: identity.clientId, credentials, keepAliveSeconds, protocolLevel: mqttLevel },
      events,
    );
  }
}

function makeDevice(options: SimulatorOptions, index: number): SimulatedDevice {
  const { seed, answerDelayMs, reconnectMs, bootMs } = options;
  const profile = profiles[profileOf(options.profile, index)];
  return new SimulatedDevice({
    identity: identityOf({ seed, index, board: profile.parts.board }),
    profile,
    transport: transportOf(options.transport, index),
    random: seededRandom(seed * 0x10000 + index),
    behaviours: answerDelayMs > 0 ? [{ kind: 'slow', ms: answerDelayMs }] : [],
    reconnectMs,
    bootMs,
  });
}

function profileOf(profile: ProfileName | 'mixed', index: number): ProfileName {
  return profile === 'mixed' ? (profileNames[index % profileNames.length] ?? 'lamp') : profile;
}

function transportOf(transport: SimulatorOptions['transport'], index: number): 'mqtt' | 'websocket' {
  if (transport !== 'mixed') return transport;
  return index % WEBSOCKET_EVERY === WEBSOCKET_EVERY - 1 ? 'websocket' : 'mqtt';
}

function localAddressOf({ localAddresses }: SimulatorOptions, index: number): string | undefined {
  return localAddresses > 1 ? `127.0.0.${1 + (index % localAddresses)}` : undefined;
}
