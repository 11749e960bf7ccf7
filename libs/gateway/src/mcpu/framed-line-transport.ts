/**
 * Lines of a microcontroller over a transport of whole messages. Messages may contain several
 * lines, parts of lines, or one JSON object without a line end. [mcpu §6.3]
 */
import { LineSplitter } from '@flotilla/mcp';
import type { CloseReason, Transport } from '@flotilla/mcp';

export class FramedLineTransport implements Transport {
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
  readonly #splitter: LineSplitter;
  #isOpen = true;

  /** `frames` is open, not started and without callbacks. `onOverlong`: a line was dropped. */
  constructor(
    private readonly frames: Transport,
    onOverlong: () => void,
  ) {
    this.#splitter = new LineSplitter(onOverlong);
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
    const lines = [...this.#splitter.push(text)];
    const frame = this.#splitter.takeFrame();
    if (frame !== undefined) lines.push(frame);
    for (const line of lines) if (this.#isOpen) this.onmessage?.(line);
  }
}
