/**
 * One conversation of a voice server: greets the device over MCP, listens until silence, and echoes
 * the audio.
 */
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { readJson } from '../command/read-json.js';
import type { Misbehaviour } from './server-options.js';

/** The counts of one conversation. */
interface ConversationCounts {
  readonly device: string;
  readonly heard: number;
  readonly said: number;
  /** Tools that the device announced, and answers to calls. */
  readonly tools: readonly string[];
  readonly answers: readonly unknown[];
}

/** So long without sound is the end of an utterance, ms. */
const QUIET_MS = 300;
const PACKET_MS = 60;
/** After so many packets a server that dies does, and one that stalls stops reading. */
const PACKETS_UNTIL_TROUBLE = 5;
const LATE_MS = 5_000;
const FLOOD_TEXTS = 10_000;

const sessionId = 'echo';

type Message = Readonly<Record<string, unknown>>;

const messageSchema = z.record(z.string(), z.unknown());
const pageSchema = z.object({
  tools: z.array(z.object({ name: z.string() })).optional(),
  nextCursor: z.string().optional(),
});

export class ServerConversation {
  #heard: Buffer[] = [];
  #heardCount = 0;
  #said = 0;
  readonly #tools: string[] = [];
  readonly #answers: unknown[] = [];
  #quietTimer: NodeJS.Timeout | undefined;
  #speech: NodeJS.Timeout | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly device: string,
    private readonly options: {
      readonly misbehaviour: Misbehaviour | undefined;
      readonly tool: string | undefined;
      readonly isBound: boolean;
    },
  ) {
    socket.on('error', () => undefined);
    socket.on('close', () => this.#stop());
    socket.on('message', (data, isBinary) => {
      if (!Buffer.isBuffer(data)) return;
      if (isBinary) this.#hear(data);
      else this.#take(readMessage(readJson(data.toString())));
    });
  }

  get counts(): ConversationCounts {
    return {
      device: this.device,
      heard: this.#heardCount,
      said: this.#said,
      tools: this.#tools,
      answers: this.#answers,
    };
  }

  #take(message: Message | undefined): void {
    switch (message?.['type']) {
      case 'hello':
        return this.#greet();
      case 'mcp':
        return this.#answered(readMessage(message['payload']));
      case 'listen':
        if (message['state'] === 'stop') this.#respond();
        return;
      case 'abort':
        return this.#endAnswer();
    }
  }

  #greet(): void {
    const { isBound, misbehaviour } = this.options;
    if (!isBound)
      return this.#say({ type: 'stt', text: '请登录控制面板，输入123456，绑定设备。', session_id: sessionId });
    if (misbehaviour === 'mute') return;
    if (misbehaviour === 'late') setTimeout(() => this.#hello(), LATE_MS).unref();
    else this.#hello();
  }

  #hello(): void {
    this.#say({
      type: 'hello',
      transport: 'websocket',
      session_id: sessionId,
      audio_params: { format: 'opus', sample_rate: 24_000, channels: 1, frame_duration: PACKET_MS },
    });
    if (this.options.misbehaviour === 'floods')
      for (let n = 0; n < FLOOD_TEXTS; n += 1) this.#say({ type: 'llm', emotion: 'confused' });
    this.#ask('greeting', 'initialize', {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'echo', version: '1' },
    });
  }

  /** Ids as such servers choose them: texts here, numbers there. */
  #answered(payload: Message | undefined): void {
    if (payload === undefined) return;
    const { id, result, error } = payload;
    if (id === 'greeting') return this.#ask(2, 'tools/list', {});
    if (id !== 2) {
      this.#answers.push(result ?? error);
      return;
    }
    const { tools = [], nextCursor } = pageSchema.safeParse(result).data ?? {};
    this.#tools.push(...tools.map(({ name }) => name));
    if (nextCursor !== undefined) return this.#ask(2, 'tools/list', { cursor: nextCursor });
    if (this.options.tool !== undefined) this.#ask(3, 'tools/call', { name: this.options.tool, arguments: {} });
  }

  #hear(frame: Buffer): void {
    this.#heard.push(frame);
    this.#heardCount += 1;
    const isTrouble = this.#heardCount === PACKETS_UNTIL_TROUBLE;
    if (isTrouble && this.options.misbehaviour === 'dies') return this.socket.terminate();
    if (isTrouble && this.options.misbehaviour === 'stalls') return this.socket.pause();
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#respond(), QUIET_MS);
  }

  #respond(): void {
    clearTimeout(this.#quietTimer);
    const frames = this.#heard;
    this.#heard = [];
    if (frames.length === 0) return;
    this.#say({ type: 'stt', text: `${frames.length} packets`, session_id: sessionId });
    this.#say({ type: 'tts', state: 'start', session_id: sessionId });
    this.#say({ type: 'tts', state: 'sentence_start', text: 'You said:', session_id: sessionId });
    this.#silence();
    this.#speech = setInterval(() => {
      const frame = frames.shift();
      if (frame !== undefined) {
        this.socket.send(frame);
        this.#said += 1;
        return;
      }
      this.#endAnswer();
    }, PACKET_MS);
  }

  #ask(id: string | number, method: string, params: Message): void {
    this.#say({ session_id: sessionId, type: 'mcp', payload: { jsonrpc: '2.0', id, method, params } });
  }

  #say(message: Message): void {
    this.socket.send(JSON.stringify(message));
  }

  /** A device goes on in its speaking state until it gets this. */
  #endAnswer(): void {
    this.#silence();
    this.#say({ type: 'tts', state: 'stop', session_id: sessionId });
  }

  #silence(): void {
    clearInterval(this.#speech);
  }

  #stop(): void {
    clearTimeout(this.#quietTimer);
    this.#silence();
  }
}

/** Undefined for what is no object. */
function readMessage(value: unknown): Message | undefined {
  return messageSchema.safeParse(value).data;
}
