/**
 * One conversation's connection to a voice server: a WebSocket that looks like the device's own, from the headers to the hello. What is said on it is the
 * relay's business. [xiaozhi §1.2, §1.3]
 */
import { isJsonObject, parseJsonText } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { BackendGreeting } from './backend-greeting.js';
import type { GreetingOptions } from './backend-greeting.js';
import { connectionFailed } from './backend-unavailable.js';
import { handshakeHeaders } from './voice-handshake.js';
import type { SpeakingDevice } from './voice-handshake.js';
import type { VoiceLimits } from '../voice-limits.js';
import type { VoiceServer } from './voice-server.js';

/** Hears a voice server, from its hello on. Nothing comes after `ended`, which comes once. */
export interface BackendEars {
  /** `bytes`: of its text. */
  heard(message: JsonObject, bytes: number): void;
  heardAudio(frame: Uint8Array): void;
  /** A text that is no JSON object. */
  heardGarbage(): void;
  ended(how: 'backend_closed' | 'backend_lost'): void;
}

const NORMAL = 1000;
const ABNORMAL = 1006;

export class BackendConnection {
  #ears: BackendEars | undefined;
  /** What came behind the hello before anybody listened. */
  #early: ((ears: BackendEars) => void)[] = [];
  #isOver = false;

  private constructor(
    private readonly socket: WebSocket,
    private readonly options: { readonly clock: Clock; readonly limits: VoiceLimits },
    /** The voice server's hello. */
    readonly hello: JsonObject,
  ) {
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.once('close', (code) => this.#over(code === ABNORMAL ? 'backend_lost' : 'backend_closed'));
  }

  /** Connects, sends the hello and waits for the answer. Rejects with BackendUnavailable. */
  static open(
    server: VoiceServer,
    said: { readonly device: SpeakingDevice; readonly hello: JsonObject },
    options: { readonly clock: Clock; readonly limits: VoiceLimits } & Pick<GreetingOptions, 'until' | 'signal'>,
  ): Promise<BackendConnection> {
    return new Promise((resolve, reject) => {
      const { url, guard } = server;
      // Nothing is looked up for an address, so a lookup alone would let all of them pass.
      const forbidden = guard?.refuse(new URL(url).hostname);
      if (forbidden !== undefined) return reject(connectionFailed(forbidden, url));
      const socket = dial(server, said.device, options);
      new BackendGreeting(socket, {
        ...options,
        ...{ server, hello: said.hello, failed: reject },
        greeted: (hello) => resolve(new BackendConnection(socket, options, hello)),
      });
    });
  }

  /** Delivers from now on, what came meanwhile first. */
  listen(ears: BackendEars): void {
    this.#ears = ears;
    for (const deliver of this.#early.splice(0)) deliver(ears);
  }

  get unsentBytes(): number {
    return this.socket.bufferedAmount;
  }

  send(message: JsonObject): void {
    if (this.#isOpen) this.socket.send(JSON.stringify(message));
  }

  /** False where the server has gone already. */
  sendAudio(frame: Uint8Array): boolean {
    const isOpen = this.#isOpen;
    if (isOpen) this.socket.send(frame);
    return isOpen;
  }

  /** Stops and goes on reading: what is not read fills the server's own buffers. */
  set isPaused(isPaused: boolean) {
    if (!this.#isOpen || isPaused === this.socket.isPaused) return;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  /** Ends the connection without a word to the ears. Idempotent. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ears = undefined;
    // A paused socket would not hear the closing handshake.
    if (this.socket.isPaused) this.socket.resume();
    const cancelCut = this.options.clock.setTimer(this.options.limits.closingTimeoutMs, () => this.socket.terminate());
    this.socket.once('close', cancelCut);
    this.socket.close(NORMAL);
  }

  get #isOpen(): boolean {
    return !this.#isOver && this.socket.readyState === WebSocket.OPEN;
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    if (isBinary) return this.#receiveAudio(bytesOf(data));
    const text = bytesOf(data);
    const message = parsed(text);
    this.#tell((ears) => (message === undefined ? ears.heardGarbage() : ears.heard(message, text.length)));
  }

  /** As `#tell`, without a function made for every frame. */
  #receiveAudio(frame: Buffer): void {
    if (this.#ears === undefined) this.#early.push((ears) => ears.heardAudio(frame));
    else this.#ears.heardAudio(frame);
  }

  #over(how: 'backend_closed' | 'backend_lost'): void {
    if (this.#isOver) return;
    this.#tell((ears) => ears.ended(how));
    this.#isOver = true;
  }

  #tell(deliver: (ears: BackendEars) => void): void {
    if (this.#ears === undefined) this.#early.push(deliver);
    else deliver(this.#ears);
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

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
