/**
 * The transport of one microcontroller over TCP: each line is a message, each message one write,
 * because boards do not reassemble parts. [mcpu §1.3]
 */
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { LineSplitter } from '@flotilla/mcp';
import type { CloseReason, Transport } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';

interface TcpLineTransportOptions {
  readonly clock: Clock;
  readonly unsentBytesMax: number;
  readonly closingTimeoutMs: number;
  /** An overlong line was dropped. */
  readonly onOverlong: () => void;
  /** The number of lines and bytes that arrived. */
  readonly onTraffic: (lines: number, bytes: number) => void;
}

export class TcpLineTransport implements Transport {
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
  readonly #decoder = new StringDecoder('utf8');
  readonly #splitter: LineSplitter;
  #isStarted = false;
  #isOpen = true;

  /** `socket` is connected; output before `start` is lost. */
  constructor(
    private readonly socket: Socket,
    private readonly options: TcpLineTransportOptions,
  ) {
    this.#splitter = new LineSplitter(options.onOverlong);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => {
      if (this.#isOpen) this.onerror?.(error);
    });
    socket.once('end', () => this.#end('device_closed'));
    socket.once('close', () => this.#end('connection_lost'));
  }

  start(): void {
    this.#isStarted = true;
  }

  send(text: string): boolean {
    if (!this.#isOpen || !this.socket.writable || this.socket.writableLength > this.options.unsentBytesMax)
      return false;
    this.socket.write(`${text}\n`);
    return true;
  }

  /** Sends a FIN if possible: a board keeps its only connection if the client disappears. */
  close(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#end(reason);
    const cancelCut = this.options.clock.setTimer(this.options.closingTimeoutMs, () => this.socket.destroy());
    this.socket.once('close', cancelCut);
    this.socket.end();
  }

  #receive(chunk: Buffer): void {
    if (!this.#isOpen || !this.#isStarted) return;
    const lines = this.#splitter.push(this.#decoder.write(chunk));
    this.options.onTraffic(lines.length, chunk.length);
    for (const line of lines) if (this.#isOpen) this.onmessage?.(line);
  }

  #end(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.nextTick(() => this.onclose?.(reason));
  }
}
