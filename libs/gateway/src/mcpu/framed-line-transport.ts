/**
 * Lines of a microcontroller over a path that carries whole messages. A board may print its lines as they come, in pieces or several at once, and a gateway may put one JSON
 * object into each message without a line end: both are understood. [mcpu §6.3]
 */
import { LineSplitter } from '@flotilla/mcp';
import type { CloseReason, Transport } from '@flotilla/mcp';

export class FramedLineTransport implements Transport {
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
  readonly #splitter: LineSplitter;
  #isOpen = true;

  /** `frames` is open, not started and without callbacks. `onOverlong`: a line was longer than a frame may be, and was dropped. */
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

  /** With its line end, so that whoever passes it on to a serial line need not add one. */
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
