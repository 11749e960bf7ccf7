/** The conversations of one device, one after the other: each hello over MQTT asks for a new one, while a WebSocket is one as long as it is open. [xiaozhi §9, 27] */
import { parseDeviceHello } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { Conversation, ConversationHost, ConversingDevice, HelloAnswer } from './conversation-host.js';

export interface DeviceTalkOptions {
  readonly host: ConversationHost;
  readonly device: ConversingDevice;
  readonly transport: 'MQTT' | 'WEBSOCKET';
  /** From then on messages to the device carry this name of the conversation. */
  readonly onSessionId: (sessionId: string) => void;
}

export class DeviceTalk {
  #conversation: Conversation | undefined;
  #answered: HelloAnswer | undefined;
  #isReady = false;
  #afterAnswer: (() => void) | undefined;

  constructor(private readonly options: DeviceTalkOptions) {}

  /** A hello. False where it is none that can be answered. */
  hello(message: JsonObject): boolean {
    const { device, host, transport } = this.options;
    const parsed = parseDeviceHello(message);
    if (!parsed.ok) return false;
    if (transport === 'WEBSOCKET' && this.#conversation !== undefined) {
      if (this.#answered !== undefined) device.say(this.#answered.message);
      return true;
    }
    this.#conversation?.end('superseded');
    const hello = { ...parsed.hello, transport: transport === 'MQTT' ? ('udp' as const) : ('websocket' as const) };
    this.#answered = undefined;
    // The answer may come before `open` returns.
    this.#conversation = host.open({ device, hello, message }, (answer) => this.#answer(answer));
    if (this.#isReady) this.#conversation.ready();
    return true;
  }

  /** Runs `act` once the device can take anything but an answer to its hello: at once where it does not wait for one. */
  onceAnswered(act: () => void): void {
    if (this.options.transport === 'MQTT' || this.#answered !== undefined) act();
    else this.#afterAnswer = act;
  }

  /** The device has told what it can do. */
  ready(): void {
    this.#isReady = true;
    this.#conversation?.ready();
  }

  /** One that names an earlier conversation ends none: old firmware echoes the hub's, when the next may be under way. [xiaozhi §9, 33] */
  goodbye({ session_id: named }: JsonObject): void {
    // A device that was not answered yet knows its conversation by no name, and says the former one.
    if (this.#answered !== undefined && typeof named === 'string' && named !== '' && named !== this.#answered.sessionId)
      return;
    this.#conversation?.end('device_goodbye');
    this.#conversation = undefined;
  }

  heard(message: JsonObject): void {
    this.#conversation?.heard(message);
  }

  heardAudio(frame: Uint8Array): void {
    this.#conversation?.heardAudio(frame);
  }

  used(): void {
    this.#conversation?.used();
  }

  /** The session is over. */
  end(): void {
    this.#afterAnswer = undefined;
    this.#conversation?.end('device_gone');
    this.#conversation = undefined;
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
