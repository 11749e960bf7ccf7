/** The transport of a WebSocket: text frames are messages, binary frames audio. [xiaozhi §1.5] */
import type { RawData, WebSocket } from 'ws';
import type { CloseReason, Transport } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import type { AudioPath } from '../sessions/session-host.js';

interface WebSocketTransportOptions {
  readonly clock: Clock;
  readonly unsentBytesMax: number;
  readonly closingTimeoutMs: number;
  /** `latin1` keeps each byte of a text, whose characters may be split. By default UTF-8. */
  readonly encoding?: 'latin1' | undefined;
}

/** WebSocket close codes. [RFC 6455 §7.4] */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const PROTOCOL_ERROR = 1002;
const ABNORMAL = 1006;

export class WebSocketTransport implements Transport, AudioPath {
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
  onframe: ((frame: Uint8Array) => void) | undefined;
  #isStarted = false;
  #isOpen = true;
  #isHeard = true;
  #brokeRule = false;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: WebSocketTransportOptions,
  ) {
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => {
      this.#isHeard = true;
    });
    socket.on('error', (error) => {
      this.#brokeRule ||= isBrokenRule(error);
      if (this.#isOpen) this.onerror?.(error);
    });
    socket.once('close', (code) => {
      if (this.#isOpen) this.#end(this.#reasonOf(code));
    });
  }

  start(): void {
    this.#isStarted = true;
  }

  send(text: string): boolean {
    const { socket } = this;
    if (!this.#isOpen || socket.readyState !== socket.OPEN || socket.bufferedAmount > this.options.unsentBytesMax)
      return false;
    socket.send(text);
    return true;
  }

  get unsentBytes(): number {
    return this.socket.bufferedAmount;
  }

  sendFrame(frame: Uint8Array): boolean {
    const isOpen = this.#isOpen && this.socket.readyState === this.socket.OPEN;
    if (isOpen) this.socket.send(frame);
    return isOpen;
  }

  /** Closes the socket, by force after a timeout: devices ignore the close frame. [xiaozhi §1.5] */
  close(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#end(reason);
    closePolitely(this.socket, { ...this.options, reason });
  }

  /** Pings the device. Cuts the connection and returns false if the last ping had no answer. */
  checkPulse(): boolean {
    // Nothing is read from a paused socket, so silence means nothing.
    if (!this.#isOpen || this.socket.isPaused) return true;
    if (!this.#isHeard) {
      this.socket.terminate();
      return false;
    }
    this.#isHeard = false;
    this.socket.ping();
    return true;
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#isHeard = true;
    if (!this.#isStarted || !this.#isOpen) return;
    if (!Buffer.isBuffer(data)) return;
    if (isBinary) this.onframe?.(data);
    else this.onmessage?.(data.toString(this.options.encoding));
  }

  #reasonOf(code: number): CloseReason {
    if (this.#brokeRule) return 'protocol_error';
    return code === ABNORMAL ? 'connection_lost' : 'device_closed';
  }

  #end(reason: CloseReason): void {
    this.#isOpen = false;
    process.nextTick(() => this.onclose?.(reason));
  }
}

/** ws gives such codes to errors that the peer caused. */
function isBrokenRule(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('WS_ERR_');
}

/** Sends a close frame, and cuts the socket if the other side does not close it in time. */
export function closePolitely(
  socket: WebSocket,
  options: { readonly clock: Clock; readonly closingTimeoutMs: number; readonly reason: CloseReason },
): void {
  const cancelCut = options.clock.setTimer(options.closingTimeoutMs, () => socket.terminate());
  socket.once('close', cancelCut);
  const code =
    options.reason === 'hub_stopping' ? GOING_AWAY : options.reason === 'protocol_error' ? PROTOCOL_ERROR : NORMAL;
  socket.close(code, options.reason);
}
