/**
 * Sets up one conversation: tries the voice servers of the device in order, joins both sides with
 * the first that answers, or continues without voice.
 */
import { randomUUID } from 'node:crypto';
import { isJsonObject, udpServerHello, websocketServerHello } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { FramingVersion } from '@flotilla/voice';
import type {
  Conversation,
  ConversationRequest,
  DeviceEnd,
  HelloAnswer,
  HubEnd,
} from '../../conversations/conversation-host.js';
import { udpHostFor } from '../../conversations/udp-host.js';
import { backendName } from '../backend/backend-health.js';
import type { BackendHealthTable } from '../backend/backend-health.js';
import { BackendUnavailable } from '../backend/backend-unavailable.js';
import { DatagramAudio, frameMsOf, frameOf, SocketAudio } from '../audio/device-audio.js';
import type { DeviceAudio } from '../audio/device-audio.js';
import { RelayedConversation } from './relayed-conversation.js';
import { BackendConnection } from '../backend/voice-backend.js';
import type { VoiceServer } from '../backend/voice-server.js';
import type { VoiceRelayOptions } from './voice-relay-options.js';

/** Raw Opus packets, which every voice server accepts; datagrams add only a time. */
const RAW_FRAMING: FramingVersion = 1;

export class ConversationSetup implements Conversation {
  readonly #giveUp = new AbortController();
  #relayed: { readonly conversation: RelayedConversation; readonly audio: DeviceAudio } | undefined;
  #voiceless: Conversation | undefined;
  #isReady = false;
  #isOver = false;
  /** Rejections by voice servers that an operator must act on. */
  readonly #refusals: JsonObject[] = [];

  constructor(
    private readonly options: VoiceRelayOptions,
    private readonly health: BackendHealthTable,
    private readonly request: ConversationRequest,
    private readonly owner: { readonly answer: (hello: HelloAnswer) => void; readonly forget: () => void },
  ) {}

  get hasVoice(): boolean {
    return !this.#isOver && this.#voiceless === undefined;
  }

  async start(): Promise<void> {
    const { clock, limits, logger } = this.options;
    const { deviceId } = this.request.device;
    const until = clock.now() + limits.openingTimeoutMs;
    try {
      const servers = await this.options.serversOf(deviceId);
      if (servers.length === 0) return this.continueWithoutVoice(undefined);
      for (const url of this.health.inOrder(servers.map((server) => server.url))) {
        const server = servers.find((one) => one.url === url);
        if (server === undefined || until <= clock.now() || this.#isOver) continue;
        if (await this.#tryServer(server, until)) return;
      }
      this.continueWithoutVoice('no voice server answered', this.#refusals[0]);
    } catch (error) {
      logger.warn({ deviceId, err: error }, 'could not look up the voice servers of a device');
      this.continueWithoutVoice('the voice servers could not be looked up');
    }
  }

  /** Continues without voice. `problem` is the reason; `refusal` is a server's answer. */
  continueWithoutVoice(problem: string | undefined, refusal: JsonObject = {}): void {
    if (this.#isOver) return;
    this.owner.forget();
    if (problem !== undefined) {
      this.options.counters.add('unavailable');
      this.request.device.report({ state: 'unavailable', reason: problem, ...refusal });
    }
    this.#voiceless = this.options.voiceless.open(this.request, this.owner.answer);
    if (this.#isReady) this.#voiceless.ready();
  }

  ready(): void {
    this.#isReady = true;
    this.#voiceless?.ready();
  }

  heard(message: JsonObject): void {
    this.#relayed?.conversation.onDeviceMessage(message);
    this.#voiceless?.heard(message);
  }

  heardAudio(frame: Uint8Array): void {
    if (this.#relayed !== undefined) this.#relayed.conversation.onDeviceAudio(this.#relayed.audio.fromDevice(frame));
    else if (this.#voiceless !== undefined) this.#voiceless.heardAudio(frame);
    else this.options.counters.dropped('too_early', 1);
  }

  used(): void {
    this.#voiceless?.used();
  }

  end(why: DeviceEnd | HubEnd): void {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#giveUp.abort();
      this.#relayed?.conversation.end(why);
      this.owner.forget();
    }
    this.#voiceless?.end(why);
  }

  async #tryServer(server: VoiceServer, until: number): Promise<boolean> {
    const { clock, limits } = this.options;
    const { device, hello, message } = this.request;
    // xiaozhi-esp32-server uses raw packets, but its hello does not say so.
    const isRaw = hello.transport === 'udp' || server.credential?.kind === 'signing_key';
    const version = isRaw ? RAW_FRAMING : hello.version;
    const { clientId, deviceId, remoteAddress } = device;
    const greeting = isRaw ? { ...message, version, transport: 'websocket' } : message;
    let connection: BackendConnection;
    try {
      connection = await BackendConnection.open(
        server,
        { device: { clientId, deviceId, remoteAddress, version }, hello: greeting },
        { clock, limits, until, signal: this.#giveUp.signal },
      );
    } catch (error) {
      if (!this.#isOver) this.#recordFailure(server, error);
      return this.#isOver;
    }
    if (this.#isOver) connection.close();
    else this.#useConnection(server, connection, version);
    return true;
  }

  #recordFailure(server: VoiceServer, error: unknown): void {
    const { deviceId } = this.request.device;
    const backend = backendName(server.url);
    const text = error instanceof Error ? error.message : String(error);
    const failure = error instanceof BackendUnavailable ? error : new BackendUnavailable('UNREACHABLE', text);
    this.health.failed(server.url, failure);
    const { message, problem } = failure;
    if (problem !== 'UNREACHABLE') this.#refusals.push({ backend, reason: problem.toLowerCase(), message });
    this.options.logger.warn({ deviceId, backend, problem: message }, 'a voice server did not answer');
  }

  /** A failure here is the hub's: the voice server is well, and another one would not help. */
  #useConnection(server: VoiceServer, connection: BackendConnection, version: FramingVersion): void {
    this.health.opened(server.url);
    for (const refusal of this.#refusals) this.request.device.report({ state: 'refused', ...refusal });
    try {
      this.#join(server, connection, version);
    } catch (error) {
      this.options.logger.error(
        { deviceId: this.request.device.deviceId, err: error },
        'could not join the two sides of a conversation',
      );
      connection.close();
      this.#relayed?.audio.close();
      this.#relayed = undefined;
      this.health.ended(server.url);
      this.continueWithoutVoice('the hub could not join the two sides');
    }
  }

  #join(server: VoiceServer, connection: BackendConnection, version: FramingVersion): void {
    const { calls, clock, counters, limits } = this.options;
    const { mayCallUserOnly } = server;
    const { device, hello } = this.request;
    const backendId = connection.hello['session_id'];
    const sessionId = randomUUID();
    const framing = framingOf(connection.hello) ?? version;
    const isUdp = hello.transport === 'udp';
    const { answer, audio } = isUdp
      ? this.#overUdp(sessionId, connection, framing)
      : this.#overSocket(sessionId, connection, framing);
    const conversation = new RelayedConversation({
      device,
      connection,
      audio,
      calls,
      clock,
      counters,
      limits,
      mayCallUserOnly,
      backend: backendName(server.url),
      sessionIds: { device: sessionId, backend: typeof backendId === 'string' ? backendId : undefined },
      transport: isUdp ? 'MQTT' : 'WEBSOCKET',
      onEnded: () => {
        this.#isOver = true;
        this.health.ended(server.url);
        this.owner.forget();
      },
    });
    this.#relayed = { conversation, audio };
    this.owner.answer({ sessionId, message: answer });
    conversation.start();
  }

  #overSocket(
    sessionId: string,
    connection: BackendConnection,
    backend: FramingVersion,
  ): { answer: JsonObject; audio: DeviceAudio } {
    const { device, hello } = this.request;
    const audio = new SocketAudio(device, { device: hello.version, backend }, this.options.limits);
    return { audio, answer: withAudioOf(websocketServerHello(sessionId), connection.hello) };
  }

  #overUdp(
    sessionId: string,
    connection: BackendConnection,
    backend: FramingVersion,
  ): { answer: JsonObject; audio: DeviceAudio } {
    const { checksAddress, counters, hosts, limits, udp } = this.options;
    const { device } = this.request;
    const socket = udp();
    const { port } = socket;
    const channel = socket.openChannel({
      address: checksAddress ? device.remoteAddress : undefined,
      packetsAheadMax: limits.packetsAheadMax,
      onPacket: (packet) => this.#relayed?.conversation.onDeviceAudio(frameOf(packet, backend)),
      onMissed: (packets) => counters.add('frames_lost', packets),
    });
    const where = { server: udpHostFor(device.localAddress, hosts), port };
    const answer = udpServerHello(sessionId, { ...where, key: channel.key.toString('hex'), nonce: channel.nonce });
    const audio = new DatagramAudio(socket, channel, { backend, limits, frameMs: frameMsOf(connection.hello) });
    return { audio, answer: withAudioOf(answer, connection.hello) };
  }
}

/**
 * Adds the voice server's audio parameters: the two numbers that devices read. Other members could
 * be too large, or names that only differ in case. [xiaozhi §4.1]
 */
function withAudioOf(answer: JsonObject, hello: JsonObject): JsonObject {
  const [own, given] = [answer['audio_params'], hello['audio_params']];
  if (!isJsonObject(own) || !isJsonObject(given)) return answer;
  const isRead = (name: string) => typeof given[name] === 'number' && given[name] > 0;
  const read = ['sample_rate', 'frame_duration'].filter(isRead).map((name) => [name, given[name]] as const);
  return { ...answer, audio_params: { ...own, ...Object.fromEntries(read) } };
}

/** The framing in the voice server's answer, if any. */
function framingOf({ version }: JsonObject): FramingVersion | undefined {
  return version === 1 || version === 2 || version === 3 ? version : undefined;
}
