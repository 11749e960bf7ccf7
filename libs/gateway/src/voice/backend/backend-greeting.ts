/**
 * Opens a conversation with a voice server: sends the device's hello and waits for the server's
 * hello, a rejection or a timeout. [xiaozhi §1.3] xiaozhi-esp32-server sends a plain text for a
 * wrong token, and a prompt for a device that is not bound there.
 */
import { isJsonObject, parseJsonText } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { RawData, WebSocket } from 'ws';
import { authFailed, BackendUnavailable, connectionFailed, notBound } from './backend-unavailable.js';
import type { VoiceLimits } from '../voice-limits.js';
import type { VoiceServer } from './voice-server.js';

export interface GreetingOptions {
  readonly server: VoiceServer;
  /** The hello of the device. */
  readonly hello: JsonObject;
  readonly clock: Clock;
  readonly limits: Pick<VoiceLimits, 'backendTimeoutMs' | 'helloRepeatMs'>;
  /** The deadline of all attempts to open this conversation, ms since the Unix epoch. */
  readonly until: number;
  /** Cancels the attempt. */
  readonly signal: AbortSignal;
  /** Runs in the turn in which the server's hello arrives; later messages go to other listeners. */
  readonly greeted: (hello: JsonObject) => void;
  /** The socket is closed. */
  readonly failed: (problem: BackendUnavailable) => void;
}

/** The text of xiaozhi-esp32-server for a wrong token, before it closes. */
const AUTH_FAILED_TEXT = '认证失败';

export class BackendGreeting {
  #isOver = false;
  #prompts = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: GreetingOptions,
  ) {
    socket.on('error', this.#onError);
    socket.on('unexpected-response', this.#onUnexpectedResponse);
    socket.on('open', this.#sayHello);
    socket.on('message', this.#onMessage);
    socket.on('close', this.#onClose);
    options.signal.addEventListener('abort', this.#giveUp);
    this.#failIn(
      options.limits.backendTimeoutMs,
      () => new BackendUnavailable('UNREACHABLE', 'it did not answer in time'),
    );
    if (options.signal.aborted) this.#giveUp();
  }

  readonly #sayHello = (): void => this.socket.send(JSON.stringify(this.options.hello));

  readonly #giveUp = (): void => this.#fail(new BackendUnavailable('UNREACHABLE', 'the device is gone'));

  readonly #onError = (error: Error): void => this.#fail(connectionFailed(error, this.options.server.url));

  readonly #onUnexpectedResponse = (_request: unknown, { statusCode }: { readonly statusCode?: number }): void => {
    const isAuth = statusCode === 401 || statusCode === 403;
    this.#fail(
      isAuth
        ? authFailed(this.options.server)
        : new BackendUnavailable('UNREACHABLE', `it answered the handshake with status ${statusCode}`),
    );
  };

  readonly #onClose = (code: number): void => {
    const problem = `it closed the connection with code ${code} before its hello`;
    this.#fail(this.#prompts > 0 ? notBound() : new BackendUnavailable('UNREACHABLE', problem));
  };

  readonly #onMessage = (data: RawData, isBinary: boolean): void => {
    if (isBinary) return;
    const text = bytesOf(data).toString();
    if (text.trim() === AUTH_FAILED_TEXT) return this.#fail(authFailed(this.options.server));
    const message = parseJsonText(text);
    if (!isJsonObject(message)) return;
    if (message['type'] === 'stt') return this.#prompted();
    if (message['type'] !== 'hello') return;
    this.#settle();
    this.options.greeted(message);
  };

  /** Recognised speech before any audio is a prompt to bind the device. */
  #prompted(): void {
    this.#prompts += 1;
    if (this.#prompts > 1) return this.#fail(notBound());
    const { clock, limits, until } = this.options;
    this.#cancelTimer();
    // A server that looked up a bound device too slowly sends the prompt as well, and finds the
    // device later.
    this.#cancelTimer = clock.setTimer(Math.max(0, Math.min(limits.helloRepeatMs, until - clock.now())), () => {
      this.#failIn(limits.backendTimeoutMs, notBound);
      if (this.socket.readyState === this.socket.OPEN) this.#sayHello();
    });
  }

  #failIn(timeoutMs: number, problem: () => BackendUnavailable): void {
    const { clock, until } = this.options;
    this.#cancelTimer = clock.setTimer(Math.max(0, Math.min(timeoutMs, until - clock.now())), () =>
      this.#fail(problem()),
    );
  }

  #fail(problem: BackendUnavailable): void {
    if (this.#isOver) return;
    this.#settle();
    // Closing a socket that is still connecting causes an error.
    this.socket.on('error', () => undefined);
    this.socket.terminate();
    this.options.failed(problem);
  }

  #settle(): void {
    this.#isOver = true;
    this.#cancelTimer();
    this.options.signal.removeEventListener('abort', this.#giveUp);
    this.socket.off('error', this.#onError);
    this.socket.off('unexpected-response', this.#onUnexpectedResponse);
    this.socket.off('open', this.#sayHello);
    this.socket.off('message', this.#onMessage);
    this.socket.off('close', this.#onClose);
  }
}

export function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
