/**
 * Composes the ingresses for devices and the live sessions of this process. It opens only the UDP
 * port: the hub hands sockets and upgrade requests to it.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CallServer } from '@flotilla/bus';
import type { DeviceId, ToolPage } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import { LRUCache } from 'lru-cache';
import { GatewayCounters } from './gateway-counters.js';
import { GatewayError } from './gateway-error.js';
import { defaultGatewayLimits } from './gateway-limits.js';
import type { GatewayLimits } from './gateway-limits.js';
import type { GatewayOccupancy, GatewayOptions, GatewayStatus, VoiceOptions } from './gateway-options.js';
import { LiveSessions } from './sessions/live-sessions.js';
import type { DrainPlan } from './sessions/session-drain.js';
import { DeviceFailures } from './overload/device-failures.js';
import { Lobby } from './overload/lobby.js';
import { DialledDevices } from './mcpu/dialled-devices.js';
import { DialRules } from './mcpu/dial-rules.js';
import { MqttIngress } from './mqtt/mqtt-ingress.js';
import { MqttUpgrade } from './mqtt/mqtt-upgrade.js';
import { NoVoice } from './conversations/no-voice.js';
import { defaultPublishTopic } from './provisioning/ota/ota-answer.js';
import { directAddress, peerOf } from './sessions/session-host.js';
import { ToolSetIndex } from './sessions/tool-set-index.js';
import { EventLog } from './sessions/event-log.js';
import { backendName } from './voice/backend/backend-health.js';
import { BackendReport } from './voice/backend/backend-report.js';
import { UdpAudio } from './voice/audio/udp-audio.js';
import { VoiceCounters } from './voice/voice-counters.js';
import { defaultVoiceLimits } from './voice/voice-limits.js';
import { VoiceRelay } from './voice/relay/voice-relay.js';
import { McpuWebSocketIngress } from './mcpu/mcpu-websocket-ingress.js';
import { XiaozhiWebSocketIngress } from './websocket/xiaozhi-websocket-ingress.js';

type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export class Gateway {
  /** The server of calls for the bus. */
  readonly callServer: CallServer;
  /** Handlers of upgrade requests, by path; with or without a slash at the end. */
  readonly upgrades: ReadonlyMap<string, UpgradeHandler>;
  readonly #limits: GatewayLimits;
  readonly #counters = new GatewayCounters();
  readonly #lobby: Lobby;
  readonly #sessions: LiveSessions;
  readonly #mqtt: MqttIngress;
  readonly #mqttUpgrade: MqttUpgrade;
  readonly #webSockets: XiaozhiWebSocketIngress;
  readonly #microcontrollers: McpuWebSocketIngress;
  readonly #dials: DialledDevices;
  readonly #voice: VoiceRelay | undefined;
  readonly #voiceReport: BackendReport | undefined;
  readonly #voiceCounters = new VoiceCounters();
  #udp: UdpAudio | undefined;

  constructor(private readonly options: GatewayOptions) {
    const { auth, clock, gatewayId, registry, bus, logger, udp, visionFor } = options;
    this.#limits = { ...defaultGatewayLimits, ...options.limits };
    this.#lobby = new Lobby(this.#limits, clock);
    const shared = { clock, logger, limits: this.#limits, counters: this.#counters };
    const { voicelessIdleMs: idleMs } = this.#limits;
    const voiceless = new NoVoice({ clock, idleMs, hosts: udp, udpPort: () => this.udpPort });
    const voice = options.voice;
    this.#voiceReport =
      voice && new BackendReport({ clock, logger, list: () => this.#voice?.health() ?? [], store: voice.report });
    this.#voice = voice && this.#makeRelay(voice, voiceless);
    this.#sessions = new LiveSessions({
      ...shared,
      gatewayId,
      registry,
      bus,
      visionFor,
      measurements: options.measurements,
      boots: options.boots,
      toolSets: new ToolSetIndex(),
      pageCache: new LRUCache<string, ToolPage>({
        maxSize: this.#limits.toolPageCacheBytesMax,
        // A string has at most two bytes per unit; the parsed page is about as large again.
        sizeCalculation: (_page, pageText) => pageText.length * 2,
      }),
      conversations: this.#voice ?? voiceless,
    });
    this.callServer = this.#sessions;
    const { addressOf = directAddress } = options;
    const ingress = {
      ...shared,
      auth,
      addressOf,
      host: this.#sessions,
      lobby: this.#lobby,
      attempts: new DeviceFailures(clock),
    };
    this.#mqtt = new MqttIngress({ ...ingress, publishTopic: options.publishTopic ?? defaultPublishTopic });
    this.#mqttUpgrade = new MqttUpgrade({
      limits: this.#limits,
      clock,
      counters: this.#counters,
      addressOf,
      accept: (stream, peer) => this.#mqtt.accept(stream, peer),
    });
    this.#webSockets = new XiaozhiWebSocketIngress(ingress);
    this.#microcontrollers = new McpuWebSocketIngress(ingress);
    const rules =
      options.dialRules ?? new DialRules({ listed: [], isOnLoopback: true, ownPorts: () => [], services: [] });
    this.#dials = new DialledDevices({ ...shared, gatewayId, dials: registry.dials, host: this.#sessions, rules });
    this.upgrades = new Map([
      ['/mqtt', this.#mqttUpgrade.upgrade],
      ['/mqtt/', this.#mqttUpgrade.upgrade],
      ['/xiaozhi/v1', this.#webSockets.upgrade],
      ['/xiaozhi/v1/', this.#webSockets.upgrade],
      ['/mcpu/v1', this.#microcontrollers.upgrade],
      ['/mcpu/v1/', this.#microcontrollers.upgrade],
    ]);
  }

  /** Before the first connection. Throws GatewayError UDP_UNAVAILABLE. */
  async start(): Promise<void> {
    this.#udp = await UdpAudio.open(this.options.udp);
    this.#warnOfShortBuffer(this.#udp);
    this.#sessions.start();
    await this.#mqtt.start();
    this.#webSockets.start();
    this.#microcontrollers.start();
    this.#dials.start();
  }

  /** Takes the socket of an MQTT connection from the hub's listener. */
  acceptMqtt(socket: Socket): void {
    socket.setNoDelay(true);
    // Finds dead peers that do not use the keep-alive of MQTT.
    socket.setKeepAlive(true, this.#limits.pingIntervalMs);
    this.#mqtt.accept(socket, peerOf(socket));
  }

  /** The tools that the device listed in its current session. */
  toolSetOf(deviceId: DeviceId): ToolSet | undefined {
    return this.#sessions.toolSetOf(deviceId);
  }

  /** Whether this gateway admits devices, for load balancers and for OTA answers. */
  get occupancy(): GatewayOccupancy {
    const { isDraining, isFull, size } = this.#sessions;
    return { sessions: size, max: this.#limits.sessionsMax, isFull, isDraining };
  }

  /** The UDP port in use. */
  get udpPort(): number {
    return this.#audio.port;
  }

  status(): GatewayStatus {
    const drops = [...(this.#udp?.drops ?? [])];
    const udpDrops = [
      { name: 'udp_packets_dropped', count: drops.reduce((sum, [, count]) => sum + count, 0) },
      ...drops.map(([reason, count]) => ({ name: `udp_packets_dropped_${reason}`, count })),
    ];
    return {
      sessions: this.#sessions.count(),
      unproven: this.#lobby.size,
      undiscovered: this.#sessions.undiscovered,
      flapping: this.#sessions.flapping,
      conversations: this.#voice?.size ?? 0,
      udpChannels: this.#udp?.size ?? 0,
      backends: this.#voice?.health() ?? [],
      counts: [...this.#counters.list(), ...this.#voiceCounters.list(), ...udpDrops],
    };
  }

  /**
   * Prepares the stop: admits no new devices, and closes each session when its calls have settled.
   * Requests of devices over HTTP are still answered.
   */
  async drain(plan: DrainPlan): Promise<void> {
    this.#dials.retire();
    await this.#sessions.drain(plan);
  }

  /** Settles all calls, ends and records all sessions. The listeners are closed before. */
  async stop(): Promise<void> {
    this.#voice?.stop();
    this.#voiceReport?.stop();
    await this.#sessions.stop();
    this.#dials.stop();
    await this.#mqtt.stop();
    this.#webSockets.stop();
    this.#microcontrollers.stop();
    this.#mqttUpgrade.stop();
    await this.#udp?.close();
    this.#udp = undefined;
  }

  get #audio(): UdpAudio {
    if (this.#udp === undefined)
      throw new GatewayError('GATEWAY_NOT_STARTED', 'The UDP port is known after start; call start first.');
    return this.#udp;
  }

  /** Warns about a short receive buffer, if the hub has voice. */
  #warnOfShortBuffer({ shortBuffer }: UdpAudio): void {
    const hasVoice = (this.options.voice?.known.length ?? 0) > 0;
    if (!hasVoice || shortBuffer === undefined) return;
    const advice = `set net.core.rmem_max to ${shortBuffer.askedBytes} or more`;
    this.options.logger.warn(
      shortBuffer,
      `the receive buffer of the UDP port is short, audio of many speakers may be lost: ${advice}`,
    );
  }

  #makeRelay(voice: VoiceOptions, voiceless: NoVoice): VoiceRelay {
    const { bus, clock, logger, registry, udp } = this.options;
    const events = new EventLog({ events: registry.events, feed: bus.feed, clock });
    return new VoiceRelay({
      watch: {
        changed: () => this.#voiceReport?.changed(),
        turned: ({ lastError, state, url }, forMs) => {
          const backend = backendName(url);
          if (state === 'UNWELL') events.write('voice.server_unwell', undefined, { backend, problem: lastError });
          else events.write('voice.server_well', undefined, { backend, unwellMs: forMs });
        },
      },
      ...voice,
      voiceless,
      clock,
      logger,
      hosts: udp,
      udp: () => this.#audio,
      limits: { ...defaultVoiceLimits, ...voice.limits },
      counters: this.#voiceCounters,
    });
  }
}
