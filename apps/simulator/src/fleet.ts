/**
 * All simulated devices of this process: created from the seed, connected at the requested pace,
 * found by id.
 */
import path from 'node:path';
import {
  SimulatedDevice,
  identityOf,
  pausesAt,
  profileNames,
  profiles,
  seededRandom,
  type DeviceFlash,
  type ProfileName,
  type TransportSettings,
} from '@flotilla/simulated-device';
import { FleetSecret, mqttCredentials, webSocketToken } from './credentials.js';
import type { DeviceSocket, DeviceSocketEvents, SocketTarget } from './sockets/device-socket.js';
import { FlashFile } from './flash-file.js';
import { exchange } from './sockets/http-exchange.js';
import { MqttSocket } from './sockets/mqtt-socket.js';
import { UdpSound } from './sockets/udp-sound.js';
import type { SimulatorOptions } from './command/options.js';
import { RunningDevice, type Surroundings, type RunningDeviceEvents } from './running-device.js';
import { WebSocketSocket, xiaozhiLogin } from './sockets/websocket-socket.js';

/** In a mixed fleet every fourth device is one that connects for conversations only. */
const WEBSOCKET_EVERY = 4;
/** Without an OTA answer that says otherwise. */
const PUBLISH_TOPIC = 'device-server';
const WEBSOCKET_PATH = '/xiaozhi/v1/';
/** Below the data folder; a file for each seed, because two seeds are two fleets. */
const FLASH_FOLDER = 'simulated-devices';
/** How often the pacer lets the next devices go. */
const PACE_STEP_MS = 20;

export class Fleet {
  readonly #devices = new Map<string, RunningDevice>();
  readonly #secret: FleetSecret;
  readonly #flashes: FlashFile | undefined;
  #pacer: NodeJS.Timeout | undefined;

  /** Throws if the flash of the devices cannot be read. */
  constructor(
    private readonly options: SimulatorOptions,
    events: RunningDeviceEvents,
  ) {
    this.#secret = new FleetSecret(options.secret, options.dataDir);
    if (options.ota !== undefined)
      this.#flashes = new FlashFile(path.join(options.dataDir, FLASH_FOLDER, `${options.seed}.json`), (problem) =>
        process.stderr.write(`${problem}\n`),
      );
    for (let index = 0; index < options.devices; index++) {
      const device = makeDevice(options, index, (id) => this.#flashes?.of(id));
      const id = device.identity.mac;
      const localAddress = localAddressOf(options, index);
      const surroundings: Surroundings = {
        keep: (flash) => this.#flashes?.keep(id, flash),
        open: (self, settings, socketEvents) =>
          settings
            ? this.#openAsTold(self, { settings, localAddress }, socketEvents)
            : this.#openDirectly(self, localAddress, socketEvents),
        openSound: (channel, onpacket) => new UdpSound(channel, localAddress, onpacket),
        exchange: (request, signal) =>
          exchange(request, {
            localAddress,
            ca: this.options.ca,
            bytesPerSecond: options.downloadKibPerSecond * 1024,
            signal,
          }),
      };
      this.#devices.set(id, new RunningDevice(device, surroundings, events));
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
    this.#flashes?.save();
  }

  /**
   * The devices of a command: one by its first id, or `*` for all. Empty if there is no such
   * device.
   */
  select(device: string): RunningDevice[] {
    if (device === '*') return [...this.#devices.values()];
    const found = this.#devices.get(device);
    return found ? [found] : [];
  }

  entries(): IterableIterator<[string, RunningDevice]> {
    return this.#devices.entries();
  }

  /** With what the OTA answer said, and nothing else. */
  #openAsTold(
    { identity }: SimulatedDevice,
    { settings, localAddress }: { readonly settings: TransportSettings; readonly localAddress: string | undefined },
    events: DeviceSocketEvents,
  ): DeviceSocket {
    const { host, port, isTls } = settings;
    const target: SocketTarget = { host, port, isTls, localAddress, ca: this.options.ca };
    if (settings.transport === 'websocket') {
      const { path, token, version } = settings;
      return new WebSocketSocket(target, xiaozhiLogin(identity, { path, token: token || undefined, version }), events);
    }
    const { clientId, username, password, keepAliveSeconds, publishTopic } = settings;
    const credentials = username === '' && password === '' ? undefined : { username, password };
    const protocolLevel = this.options.mqttLevel;
    return new MqttSocket(target, { clientId, credentials, keepAliveSeconds, publishTopic, protocolLevel }, events);
  }

  /** To the addresses of the command line, with the fleet-wide secret. */
  #openDirectly(
    { identity, transport }: SimulatedDevice,
    localAddress: string | undefined,
    events: DeviceSocketEvents,
  ): DeviceSocket {
    const { host, mqttPort, httpPort, keepAliveSeconds, mqttLevel } = this.options;
    const secret = this.#secret.read();
    const target = (port: number): SocketTarget => ({ host, port, isTls: false, localAddress, ca: undefined });
    if (transport === 'websocket') {
      const token = secret === undefined ? undefined : webSocketToken(secret, identity, Date.now());
      return new WebSocketSocket(
        target(httpPort),
        xiaozhiLogin(identity, { path: WEBSOCKET_PATH, token, version: 1 }),
        events,
      );
    }
    const { clientId } = identity;
    const credentials = secret === undefined ? undefined : mqttCredentials(secret, clientId);
    const login = { clientId, credentials, keepAliveSeconds, publishTopic: PUBLISH_TOPIC, protocolLevel: mqttLevel };
    return new MqttSocket(target(mqttPort), login, events);
  }
}

function makeDevice(
  options: SimulatorOptions,
  index: number,
  flashOf: (id: string) => DeviceFlash | undefined,
): SimulatedDevice {
  const { seed, answerDelayMs, reconnectMs, bootMs, speed, ota, network, behaviours } = options;
  const knobs = index < options.knobDevices ? options.knobs : [];
  const profile = profiles[profileOf(options.profile, index)];
  const identity = identityOf({ seed, index, board: profile.parts.board });
  return new SimulatedDevice({
    identity,
    flash: flashOf(identity.mac),
    profile,
    transport: transportOf(options.transport, index),
    random: seededRandom(seed * 0x10000 + index),
    behaviours: [...(answerDelayMs > 0 ? [{ kind: 'slow' as const, ms: answerDelayMs }] : []), ...behaviours, ...knobs],
    otaUrl: ota,
    network,
    pauses: {
      ...pausesAt(speed),
      ...(reconnectMs !== undefined && { reconnectMs }),
      ...(bootMs !== undefined && { bootMs }),
    },
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
