/**
 * Splits the output of an MCP/U device into lines. Frames end in CR LF; the sketch may print
 * anything between them. [mcpu §1.1]
 */
import { isJsonObject, parseJsonText } from '../json-rpc/json-text.js';
import { readMcpuLine } from './frame.js';

/**
 * UTF-16 code units of one line. The largest known listing has about 3,000; an unfinished line must
 * not fill the memory.
 */
export const mcpuLineMax = 64 * 1024;

export class LineSplitter {
  #rest = '';
  #isSkipping = false;
  /** The latest input of an overlong line, which may be a frame without a line end. */
  #skipped = '';

  /** The callback runs for each line longer than `mcpuLineMax`, which is dropped up to its end. */
  constructor(private readonly onOverlong: () => void) {}

  /**
   * Returns the lines that this input completes, trimmed, without empty ones. Input may be split
   * anywhere except inside a character.
   */
  push(piece: string): readonly string[] {
    this.#skipped = '';
    const parts = piece.split('\n');
    const lines: string[] = [];
    for (const [at, part] of parts.entries()) {
      this.#append(part);
      if (at < parts.length - 1) this.#endLine(lines);
    }
    return lines;
  }

  /** Takes the unfinished line if it is a complete frame: a message's end implies a line end. */
  takeFrame(): string | undefined {
    const line = (this.#isSkipping ? this.#skipped : this.#rest).trim();
    if (!line.endsWith('}') || !isWholeFrame(line)) return undefined;
    this.#rest = '';
    this.#isSkipping = false;
    return line;
  }

  #append(part: string): void {
    if (!this.#isSkipping && this.#rest.length + part.length <= mcpuLineMax) {
      this.#rest += part;
      return;
    }
    if (part.length <= mcpuLineMax) this.#skipped = part;
    if (this.#isSkipping) return;
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

/** The whole line must be one frame: a frame may contain text that looks like a frame. */
function isWholeFrame(line: string): boolean {
  return line.startsWith('{') ? isJsonObject(parseJsonText(line)) : readMcpuLine(line).kind !== 'noise';
}
