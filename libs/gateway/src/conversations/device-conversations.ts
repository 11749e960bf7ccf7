/**
 * The conversations of one device. Over MQTT each hello asks for a new one; a WebSocket is one
 * conversation as long as it is open. [xiaozhi §9, 27]
 */
import { goodbyeMessage, parseDeviceHello } from '@flotilla/mcp';
import type { IncomingTransport, JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { perMinute, TokenBucket } from '../overload/token-bucket.js';
import type { Conversation, ConversationHost, ConversingDevice, HelloAnswer, HubEnd } from './conversation-host.js';
import type { LostConversations } from './lost-conversations.js';

export interface DeviceConversationsOptions {
  readonly host: ConversationHost;
  readonly device: ConversingDevice;
  readonly transport: IncomingTransport;
  readonly lost: LostConversations;
  readonly limiting: {
    readonly clock: Pick<Clock, 'now'>;
    readonly counters: GatewayCounters;
    readonly limits: Pick<GatewayLimits, 'conversationsPerMinuteMax'>;
  };
  /** Receives the session id that messages to the device contain from now on. */
  readonly onSessionId: (sessionId: string) => void;
}

export class DeviceConversations {
  #conversation: Conversation | undefined;
  #answered: HelloAnswer | undefined;
  #isReady = false;
  #afterAnswer: (() => void) | undefined;

  readonly #openings: TokenBucket;

  constructor(private readonly options: DeviceConversationsOptions) {
    const { clock, limits } = options.limiting;
    this.#openings = new TokenBucket(perMinute(limits.conversationsPerMinuteMax), clock.now());
  }

  /** Whether a conversation with a voice server is open or being opened. */
  get isConversing(): boolean {
    return this.#conversation?.hasVoice === true;
  }

  /** The session begins. Ends the conversation of a lost connection on its device. */
  begin(): void {
    const { device, lost, transport } = this.options;
    const named = lost.take(device.deviceId);
    if (transport === 'MQTT' && named !== undefined) device.say(goodbyeMessage(named));
  }

  /** Takes a hello. Returns false if it cannot be read. One beyond the limit gets no answer. */
  hello(message: JsonObject): boolean {
    const { device, host, transport } = this.options;
    const parsed = parseDeviceHello(message);
    if (!parsed.ok) return false;
    if (transport === 'WEBSOCKET' && this.#conversation !== undefined) {
      if (this.#answered !== undefined) device.say(this.#answered.message);
      return true;
    }
    this.#conversation?.end('superseded');
    this.#conversation = undefined;
    const hello = { ...parsed.hello, transport: transport === 'MQTT' ? ('udp' as const) : ('websocket' as const) };
    this.#answered = undefined;
    if (!this.#mayOpen()) return true;
    // The answer may come before `open` returns.
    this.#conversation = host.open({ device, hello, message }, (answer) => this.#answer(answer));
    if (this.#isReady) this.#conversation.ready();
    return true;
  }

  /** Runs `act` when the device accepts messages: over WebSocket after the answer to its hello. */
  onceAnswered(act: () => void): void {
    if (this.options.transport === 'MQTT' || this.#answered !== undefined) act();
    else this.#afterAnswer = act;
  }

  /** The session of the device is ready. */
  ready(): void {
    this.#isReady = true;
    this.#conversation?.ready();
  }

  /** Takes a goodbye, unless old firmware names an earlier conversation. [xiaozhi §9, 33] */
  goodbye({ session_id: named }: JsonObject): void {
    // A device whose hello was not answered yet only knows the name of the conversation before.
    if (this.#answered !== undefined && typeof named === 'string' && named !== '' && named !== this.#answered.sessionId)
      return;
    this.#conversation?.end('device_goodbye');
    this.#conversation = undefined;
  }

  heard(message: JsonObject): void {
    if (this.#conversation === undefined) this.#endUnknown(message);
    else this.#conversation.heard(message);
  }

  heardAudio(frame: Uint8Array): void {
    this.#conversation?.heardAudio(frame);
  }

  used(): void {
    this.#conversation?.used();
  }

  /** Ends with the session. */
  end(why: 'device_gone' | HubEnd): void {
    this.#afterAnswer = undefined;
    const { device, lost, transport } = this.options;
    if (why === 'device_gone' && transport === 'MQTT' && this.isConversing && this.#answered !== undefined)
      lost.add(device.deviceId, this.#answered.sessionId);
    this.#conversation?.end(why);
    this.#conversation = undefined;
  }

  /**
   * A device that speaks in a conversation from before the hub or its connection restarted would
   * not be heard. A goodbye frees it, so that its user can begin again. [xiaozhi §9, 34]
   */
  #endUnknown({ session_id: named, state, type }: JsonObject): void {
    const { device, transport } = this.options;
    const isSpeaking = type === 'listen' && (state === 'start' || state === 'detect');
    if (transport === 'MQTT' && isSpeaking && typeof named === 'string' && named !== '')
      device.say(goodbyeMessage(named));
  }

  #mayOpen(): boolean {
    const { clock, counters, limits } = this.options.limiting;
    if (this.#openings.takeOne(perMinute(limits.conversationsPerMinuteMax), clock.now())) return true;
    counters.add('anomaly', 'hellos_dropped');
    return false;
  }

  #answer(answer: HelloAnswer): void {
    this.#answered = answer;
    this.options.onSessionId(answer.sessionId);
    this.options.device.say(answer.message);
    const act = this.#afterAnswer;
    this.#afterAnswer = undefined;
    act?.();
  }
}
