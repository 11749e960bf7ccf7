/**
 * Conversations relayed to voice servers: picks one that answers, speaks to it as the device, and joins the two sides. Where none answers the device is told,
 * and has the conversation that a hub without a voice service gives it. [xiaozhi §1.3, §2.4]
 */
import { randomUUID } from 'node:crypto';
import { websocketServerHello, udpServerHello } from '@flotilla/mcp';
import type { DeviceId, JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { FramingVersion } from '@flotilla/voice';
import type {
  Conversation,
  ConversationHost,
  ConversationRequest,
  DeviceEnd,
  HelloAnswer,
} from '../../conversations/conversation-host.js';
import type { GatewayLogger } from '../../gateway-logger.js';
import { BackendBook, backendName } from '../backend/backend-health.js';
import type { BackendHealth, BackendWatch } from '../backend/backend-health.js';
import type { VoiceCalls } from '../backend/backend-mcp.js';
import { BackendUnavailable } from '../backend/backend-unavailable.js';
import { DatagramAudio, frameMsOf, frameOf, SocketAudio } from '../audio/device-audio.js';
import type { DeviceAudio } from '../audio/device-audio.js';
import { RelayedConversation } from './relayed-conversation.js';
import type { ConversationEnd } from './relayed-conversation.js';
import type { UdpAudio } from '../audio/udp-audio.js';
import { BackendConnection } from '../backend/voice-backend.js';
import type { VoiceCounters } from '../voice-counters.js';
import type { VoiceLimits } from '../voice-limits.js';
import type { VoiceServer } from '../backend/voice-server.js';

/** The voice servers of a device, in order of preference; none: its conversations stay without voice. Rejects while that cannot be found out. */
export type VoiceServersOf = (deviceId: DeviceId) => Promise<readonly VoiceServer[]>;

export interface VoiceRelayOptions {
  readonly serversOf: VoiceServersOf;
  readonly calls: VoiceCalls;
  /** Datagrams are believed only from the address of the device's own connection. */
  readonly checksAddress: boolean;
  readonly udp: () => UdpAudio;
  /** Told to devices instead of the address that they reached. */
  readonly publicHost: string | undefined;
  /** Voice servers that are listed before they were ever asked. */
  readonly known: readonly string[];
  readonly watch: BackendWatch;
  /** For devices without a voice server that answers. */
  readonly voiceless: ConversationHost;
  readonly clock: Clock;
  readonly limits: VoiceLimits;
  readonly counters: VoiceCounters;
  readonly logger: GatewayLogger;
}

/** Raw Opus packets: what every voice server takes, and all that datagrams carry besides their time. */
const RAW_FRAMING: FramingVersion = 1;

export class VoiceRelay implements ConversationHost {
  readonly #book: BackendBook;
  readonly #open = new Set<Opening>();

  constructor(private readonly options: VoiceRelayOptions) {
    const { clock, known, limits, watch } = options;
    this.#book = new BackendBook({ clock, restMs: limits.backendRestMs, known, watch });
  }

  /** Conversations that are opening or open. */
  get size(): number {
    return this.#open.size;
  }

  health(): readonly BackendHealth[] {
    return this.#book.list();
  }

  open(request: ConversationRequest, answer: (hello: HelloAnswer) => void): Conversation {
    const opening = new Opening(this.options, this.#book, request, {
      answer,
      forget: () => void this.#open.delete(opening),
    });
    if (this.#open.size >= this.options.limits.conversationsMax)
      opening.goWithout('the hub has as many conversations as it takes');
    else {
      this.#open.add(opening);
      void opening.begin();
    }
    return opening;
  }

  /** Ends all conversations. */
  stop(): void {
    for (const opening of this.#open) opening.stop();
  }
}

/** One conversation: at first a search for a voice server, then what became of it. */
class Opening implements Conversation {
  readonly #giveUp = new AbortController();
  #relayed: { readonly conversation: RelayedConversation; readonly audio: DeviceAudio } | undefined;
  #voiceless: Conversation | undefined;
  #isReady = false;
  #isOver = false;
  /** Answers of voice servers that an operator has to do something about. */
  readonly #refusals: JsonObject[] = [];

  constructor(
    private readonly options: VoiceRelayOptions,
    private readonly book: BackendBook,
    private readonly request: ConversationRequest,
    private readonly owner: { readonly answer: (hello: HelloAnswer) => void; readonly forget: () => void },
  ) {}

  async begin(): Promise<void> {
    const { clock, limits, logger } = this.options;
    const { deviceId } = this.request.device;
    const until = clock.now() + limits.openingTimeoutMs;
    try {
      const servers = await this.options.serversOf(deviceId);
      if (servers.length === 0) return this.goWithout(undefined);
      for (const url of this.book.inOrder(servers.map((server) => server.url))) {
        const server = servers.find((one) => one.url === url);
        if (server === undefined || until <= clock.now() || this.#isOver) continue;
        if (await this.#try(server, until)) return;
      }
      this.goWithout('no voice server answered', this.#refusals[0]);
    } catch (error) {
      logger.warn({ deviceId, err: error }, 'the voice servers of a device could not be looked up');
      this.goWithout('the voice servers could not be looked up');
    }
  }

  /**
   * Hands the device to the host of voiceless conversations. `problem` is why there should have
   * been a voice, `refusal` a server's answer.
   */
  goWithout(problem: string | undefined, refusal: JsonObject = {}): void {
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
    this.#relayed?.conversation.heardFromDevice(message);
    this.#voiceless?.heard(message);
  }

  heardAudio(frame: Uint8Array): void {
    if (this.#relayed !== undefined)
      this.#relayed.conversation.heardAudioFromDevice(this.#relayed.audio.fromDevice(frame));
    else if (this.#voiceless !== undefined) this.#voiceless.heardAudio(frame);
    else this.options.counters.dropped('too_early', 1);
  }

  used(): void {
    this.#voiceless?.used();
  }

  end(why: DeviceEnd): void {
    this.#end(why);
    this.#voiceless?.end(why);
  }

  stop(): void {
    this.#end('hub_stopping');
  }

  #end(why: ConversationEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#giveUp.abort();
    this.#relayed?.conversation.end(why);
    this.owner.forget();
  }

  async #try(server: VoiceServer, until: number): Promise<boolean> {
    const { clock, limits } = this.options;
    const { device, hello, message } = this.request;
    // xiaozhi-esp32-server takes raw packets, and does not say so in its hello.
    const isRaw = hello.transport === 'udp' || server.credential?.kind === 'signing_key';
    const version = isRaw ? RAW_FRAMING : hello.version;
    const { clientId, deviceId, remoteAddress } = device;
    const said = isRaw ? { ...message, version, transport: 'websocket' } : message;
    let connection: BackendConnection;
    try {
      connection = await BackendConnection.open(
        server,
        { device: { clientId, deviceId, remoteAddress, version }, hello: said },
        { clock, limits, until, signal: this.#giveUp.signal },
      );
    } catch (error) {
      if (!this.#isOver) this.#failed(server, error);
      return this.#isOver;
    }
    if (this.#isOver) connection.close();
    else this.#begin(server, connection, version);
    return true;
  }

  #failed(server: VoiceServer, error: unknown): void {
    const { deviceId } = this.request.device;
    const backend = backendName(server.url);
    const text = error instanceof Error ? error.message : String(error);
    const failure = error instanceof BackendUnavailable ? error : new BackendUnavailable('UNREACHABLE', text);
    this.book.failed(server.url, failure);
    const { message, problem } = failure;
    if (problem !== 'UNREACHABLE') this.#refusals.push({ backend, reason: problem.toLowerCase(), message });
    this.options.logger.warn({ deviceId, backend, problem: message }, 'a voice server did not answer');
  }

  /** What goes wrong here is the hub's doing: the voice server is well, and there is no use in asking another one. */
  #begin(server: VoiceServer, connection: BackendConnection, version: FramingVersion): void {
    this.book.opened(server.url);
    for (const refusal of this.#refusals) this.request.device.report({ state: 'refused', ...refusal });
    try {
      this.#join(server, connection, version);
    } catch (error) {
      this.options.logger.error(
        { deviceId: this.request.device.deviceId, err: error },
        'a conversation could not be joined',
      );
      connection.close();
      this.#relayed?.audio.close();
      this.#relayed = undefined;
      this.book.ended(server.url);
      this.goWithout('the hub could not join the two sides');
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
      ...{ device, connection, audio, calls, clock, counters, limits, mayCallUserOnly },
      backend: backendName(server.url),
      sessionIds: { device: sessionId, backend: typeof backendId === 'string' ? backendId : undefined },
      transport: isUdp ? 'MQTT' : 'WEBSOCKET',
      onEnded: () => {
        this.#isOver = true;
        this.book.ended(server.url);
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
    const { checksAddress, counters, limits, publicHost, udp } = this.options;
    const { device } = this.request;
    const socket = udp();
    const { port } = socket;
    const channel = socket.openChannel({
      address: checksAddress ? device.remoteAddress : undefined,
      packetsAheadMax: limits.packetsAheadMax,
      heard: (packet) => this.#relayed?.conversation.heardAudioFromDevice(frameOf(packet, backend)),
      missed: (packets) => counters.add('frames_lost', packets),
    });
    const where = { server: publicHost ?? device.localAddress ?? '127.0.0.1', port };
    const answer = udpServerHello(sessionId, { ...where, key: channel.key.toString('hex'), nonce: channel.nonce });
    const audio = new DatagramAudio(socket, channel, { backend, limits, frameMs: frameMsOf(connection.hello) });
    return { audio, answer: withAudioOf(answer, connection.hello) };
  }
}

/** What the voice server's audio is like, as it says. Devices take numbers only, and keep their defaults otherwise. */
function withAudioOf(answer: JsonObject, hello: JsonObject): JsonObject {
  const params = hello['audio_params'];
  return typeof params === 'object' && params !== null ? { ...answer, audio_params: params } : answer;
}

/** The framing that the voice server answers with, where it says. */
function framingOf({ version }: JsonObject): FramingVersion | undefined {
  return version === 1 || version === 2 || version === 3 ? version : undefined;
}
