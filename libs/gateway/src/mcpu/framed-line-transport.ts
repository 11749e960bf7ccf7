/**
 * Lines of a microcontroller over a transport of whole messages. Messages may contain several
 * lines, parts of lines and characters, or one JSON object without a line end. [mcpu §6.3]
 */
import { StringDecoder } from 'node:string_decoder';
import { LineSplitter } from '@flotilla/mcp';
import type { CloseReason, Transport } from '@flotilla/mcp';

interface FramedLineOptions {
  /** An overlong line was dropped. */
  readonly onOverlong: () => void;
  /** The number of lines in a message after its first, which counts as the message itself. */
  readonly onFurtherLines: (lines: number) => void;
}

export class FramedLineTransport implements Transport {
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
  readonly #decoder = new StringDecoder('utf8');
  readonly #splitter: LineSplitter;
  #isOpen = true;

  /** `frames` is open, not started, without callbacks, and delivers the bytes as latin1. */
  constructor(
    private readonly frames: Transport,
    private readonly options: FramedLineOptions,
  ) {
    this.#splitter = new LineSplitter(options.onOverlong);
    frames.onmessage = (text) => this.#receive(text);
    frames.onerror = (error) => this.onerror?.(error);
    frames.onclose = (reason) => {
      this.#isOpen = false;
      this.onclose?.(reason);
    };
  }

  start(): void {
    this.frames.start();
  }

  /** Adds a line end, so that a bridge to a serial line need not. */
  send(text: string): boolean {
    return this.frames.send(`${text}\n`);
  }

  close(reason: CloseReason): void {
    this.#isOpen = false;
    this.frames.close(reason);
  }

  #receive(text: string): void {
    const lines = [...this.#splitter.push(this.#decoder.write(Buffer.from(text, 'latin1')))];
    const frame = this.#splitter.takeFrame();
    if (frame !== undefined) lines.push(frame);
    if (lines.length > 1) this.options.onFurtherLines(lines.length - 1);
    for (const line of lines) if (this.#isOpen) this.onmessage?.(line);
  }
}
