/**
 * The connection of one conversation to a voice server: a WebSocket that looks like the device's,
 * from its headers to its hello. [xiaozhi §1.2, §1.3]
 */
import { isJsonObject, parseJsonText } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { BackendGreeting, bytesOf } from './backend-greeting.js';
import type { GreetingOptions } from './backend-greeting.js';
import { connectionFailed } from './backend-unavailable.js';
import { handshakeHeaders } from './voice-handshake.js';
import type { SpeakingDevice } from './voice-handshake.js';
import type { VoiceLimits } from '../voice-limits.js';
import type { VoiceServer } from './voice-server.js';

/** Receives messages of a voice server after its hello. `onEnd` comes once and last. */
export interface BackendListener {
  /** `bytes`: size of its text. */
  onMessage(message: JsonObject, bytes: number): void;
  onAudio(frame: Uint8Array): void;
  /** A text that is not a JSON object. */
  onInvalidMessage(): void;
  onEnd(how: 'backend_closed' | 'backend_lost'): void;
}

const NORMAL = 1000;
const ABNORMAL = 1006;

export class BackendConnection {
  #listener: BackendListener | undefined;
  /** Messages that arrived after the hello before a listener was set. */
  #early: ((listener: BackendListener) => void)[] = [];
  #isOver = false;
  /** Whether the server was heard since the last ping. */
  #isHeard = true;
  #cancelPing: () => void = () => undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly options: { readonly clock: Clock; readonly limits: VoiceLimits },
    /** The hello of the voice server. */
    readonly hello: JsonObject,
  ) {
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => (this.#isHeard = true));
    socket.once('close', (code) => this.#end(code === ABNORMAL ? 'backend_lost' : 'backend_closed'));
    this.#pingLater();
  }

  /** Connects, sends the hello and waits for the answer. Rejects with BackendUnavailable. */
  static open(
    server: VoiceServer,
    opening: { readonly device: SpeakingDevice; readonly hello: JsonObject },
    options: { readonly clock: Clock; readonly limits: VoiceLimits } & Pick<GreetingOptions, 'until' | 'signal'>,
  ): Promise<BackendConnection> {
    return new Promise((resolve, reject) => {
      const { url, guard } = server;
      // An IP address needs no lookup, so it must be checked here.
      const forbidden = guard?.refuse(new URL(url).hostname);
      if (forbidden !== undefined) return reject(connectionFailed(forbidden, url));
      const socket = dial(server, opening.device, options);
      new BackendGreeting(socket, {
        ...options,
        server,
        hello: opening.hello,
        failed: reject,
        greeted: (hello) => resolve(new BackendConnection(socket, options, hello)),
      });
    });
  }

  /** Delivers messages from now on, earlier ones first. */
  listen(listener: BackendListener): void {
    this.#listener = listener;
    for (const deliver of this.#early.splice(0)) deliver(listener);
  }

  get unsentBytes(): number {
    return this.socket.bufferedAmount;
  }

  send(message: JsonObject): void {
    if (this.#isOpen) this.socket.send(JSON.stringify(message));
  }

  /** Returns false if the server has already disconnected. */
  sendAudio(frame: Uint8Array): boolean {
    const isOpen = this.#isOpen;
    if (isOpen) this.socket.send(frame);
    return isOpen;
  }

  /** Pauses and resumes reading: unread data stays in the server's buffers. */
  set isPaused(isPaused: boolean) {
    if (!this.#isOpen || isPaused === this.socket.isPaused) return;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  /** Closes the connection without notifying the listener. Idempotent. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelPing();
    this.#listener = undefined;
    // A paused socket would not receive the closing handshake.
    if (this.socket.isPaused) this.socket.resume();
    const cancelCut = this.options.clock.setTimer(this.options.limits.closingTimeoutMs, () => this.socket.terminate());
    this.socket.once('close', cancelCut);
    this.socket.close(NORMAL);
  }

  get #isOpen(): boolean {
    return !this.#isOver && this.socket.readyState === WebSocket.OPEN;
  }

  #pingLater(): void {
    const { clock, limits } = this.options;
    this.#cancelPing = clock.setTimer(limits.backendPingMs, () => {
      // The answers to a paused socket are not read.
      if (!this.#isHeard && !this.socket.isPaused) return this.socket.terminate();
      this.#isHeard = this.socket.isPaused;
      if (this.#isOpen) this.socket.ping();
      this.#pingLater();
    });
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#isHeard = true;
    if (isBinary) return this.#receiveAudio(bytesOf(data));
    const text = bytesOf(data);
    const message = parsed(text);
    this.#deliver((listener) =>
      message === undefined ? listener.onInvalidMessage() : listener.onMessage(message, text.length),
    );
  }

  /** Like `#deliver`, without creating a function for every frame. */
  #receiveAudio(frame: Buffer): void {
    if (this.#listener === undefined) this.#early.push((listener) => listener.onAudio(frame));
    else this.#listener.onAudio(frame);
  }

  #end(how: 'backend_closed' | 'backend_lost'): void {
    if (this.#isOver) return;
    this.#cancelPing();
    this.#deliver((listener) => listener.onEnd(how));
    this.#isOver = true;
  }

  #deliver(deliver: (listener: BackendListener) => void): void {
    if (this.#listener === undefined) this.#early.push(deliver);
    else deliver(this.#listener);
  }
}

function dial(
  server: VoiceServer,
  device: SpeakingDevice,
  { clock, limits }: { readonly clock: Clock; readonly limits: VoiceLimits },
): WebSocket {
  return new WebSocket(server.url, {
    headers: handshakeHeaders(server, device, clock.now()),
    ...(server.guard && { lookup: server.guard.lookup }),
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: limits.backendMessageBytesMax,
    handshakeTimeout: limits.backendTimeoutMs,
    skipUTF8Validation: true,
  });
}

function parsed(data: RawData): JsonObject | undefined {
  const message = parseJsonText(bytesOf(data).toString());
  return isJsonObject(message) ? message : undefined;
}
