/** Cuts what an MCP/U device prints into lines. Its frames end in CR LF, its sketch may print anything between them. [mcpu §1.1] */
import { isJsonObject, parseJsonText } from '../json-rpc/json-text.js';
import { readMcpuLine } from './frame.js';

/** UTF-16 code units of one line. The largest known listing has some 3,000; a device that never ends a line must not fill the memory. */
export const mcpuLineMax = 64 * 1024;

export class LineSplitter {
  #rest = '';
  #isSkipping = false;

  /** `onOverlong` is told of each line that is longer than `mcpuLineMax`; it is dropped up to its end. */
  constructor(private readonly onOverlong: () => void) {}

  /** The lines that this piece ends, trimmed, without empty ones. A piece may end anywhere, but not inside a character. */
  push(piece: string): readonly string[] {
    const parts = piece.split('\n');
    const lines: string[] = [];
    for (const [at, part] of parts.entries()) {
      this.#append(part);
      if (at < parts.length - 1) this.#endLine(lines);
    }
    return lines;
  }

  /** The line that has begun, where it is a whole frame already: a message that ends needs no line end. Pieces of a frame, and noise, wait for theirs. */
  takeFrame(): string | undefined {
    const line = this.#rest.trim();
    if (!line.endsWith('}') || !isWholeFrame(line)) return undefined;
    this.#rest = '';
    return line;
  }

  #append(part: string): void {
    if (this.#isSkipping) return;
    if (this.#rest.length + part.length <= mcpuLineMax) {
      this.#rest += part;
      return;
    }
    this.#rest = '';
    this.#isSkipping = true;
    this.onOverlong();
  }

  #endLine(lines: string[]): void {
    const line = this.#rest.trim();
    if (line !== '') lines.push(line);
    this.#rest = '';
    this.#isSkipping = false;
  }
}

/** What begins as a frame has to be one from end to end: inside it may be something that looks like one. */
function isWholeFrame(line: string): boolean {
  return line.startsWith('{') ? isJsonObject(parseJsonText(line)) : readMcpuLine(line).kind !== 'noise';
}
