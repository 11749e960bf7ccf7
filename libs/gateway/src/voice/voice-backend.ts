/**
 * One conversation's connection to a voice server: a WebSocket that looks like the device's own, from the headers to the hello. What is said on it is the
 * relay's business. [xiaozhi §1.2, §1.3]
 */
import { isJsonObject, parseJsonText } from '@flotilla/mcp';
import type { JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { FramingVersion } from '@flotilla/voice';
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import type { VoiceLimits } from './voice-limits.js';

/** A voice server. The token is the hub's own, never a device's. */
export interface VoiceServer {
  readonly url: string;
  readonly token: string | undefined;
}

/** As whom the hub speaks. */
export interface SpeakingDevice {
  readonly deviceId: string;
  /** The device's UUID. */
  readonly clientId: string;
  readonly version: FramingVersion;
}

/** Hears a voice server, from its hello on. Nothing comes after `ended`, which comes once. */
export interface BackendEars {
  /** `bytes`: of its text. */
  heard(message: JsonObject, bytes: number): void;
  heardAudio(frame: Uint8Array): void;
  /** A text that is no JSON object. */
  heardGarbage(): void;
  ended(how: 'backend_closed' | 'backend_lost'): void;
}

/** Why there is no conversation with a voice server; `message` names the server's answer, never a token. */
export class BackendUnavailable extends Error {
  override readonly name = 'BackendUnavailable';
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
  ) {}

  /** Connects, says the device's hello and waits for the answer. Rejects with BackendUnavailable; `signal` gives up. */
  static open(
    server: VoiceServer,
    said: { readonly device: SpeakingDevice; readonly hello: JsonObject },
    options: { readonly clock: Clock; readonly limits: VoiceLimits; readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<BackendConnection> {
    return new Promise((resolve, reject) => {
      const socket = dial(server, said.device, options.limits);
      let connection: BackendConnection | undefined;
      const fail = (problem: string) => {
        settled();
        socket.terminate();
        reject(new BackendUnavailable(problem));
      };
      const giveUp = () => fail('the device is gone');
      const cancelDeadline = options.clock.setTimer(options.timeoutMs, () => fail('it did not answer in time'));
      const settled = () => {
        cancelDeadline();
        options.signal.removeEventListener('abort', giveUp);
      };
      options.signal.addEventListener('abort', giveUp);
      socket.on('error', (error) => {
        if (connection === undefined) fail(error.message);
      });
      socket.once('open', () => socket.send(JSON.stringify(said.hello)));
      socket.on('message', (data, isBinary) => {
        if (connection !== undefined) return connection.#receive(data, isBinary);
        const message = isBinary ? undefined : parsed(data);
        if (message?.['type'] !== 'hello') return;
        settled();
        connection = new BackendConnection(socket, options, message);
        resolve(connection);
      });
      socket.once('close', (code) => {
        if (connection === undefined) fail(`it closed the connection with code ${code} before its hello`);
        else connection.#over(code === ABNORMAL ? 'backend_lost' : 'backend_closed');
      });
      if (options.signal.aborted) giveUp();
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

function dial({ url, token }: VoiceServer, device: SpeakingDevice, limits: VoiceLimits): WebSocket {
  return new WebSocket(url, {
    headers: {
      'Device-Id': device.deviceId,
      'Client-Id': device.clientId,
      'Protocol-Version': String(device.version),
      ...(token !== undefined && { Authorization: token.includes(' ') ? token : `Bearer ${token}` }),
    },
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
