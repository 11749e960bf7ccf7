/**
 * An MCP/U microcontroller as a pure object: bytes and times in, effects out. Like its firmware, it
 * loses a request that does not arrive in one piece, and resets outputs on connect. [mcpu §0, §1.3]
 */
import { utf8Length } from '../json/utf8.js';
import { boardListing } from './board-listing.js';
import { BoardPin } from './board-pin.js';
import type { BoardProfile } from './board-profile.js';
import { readBoardRequest } from './board-request.js';
import { builtInTools } from './built-in-tools.js';
import type { SketchAnswer } from './sketch-tools.js';

export type BoardEffect =
  | { readonly kind: 'send'; readonly text: string }
  /** Call `tick` at this time. */
  | { readonly kind: 'wakeAt'; readonly at: number };

interface BoardSetup {
  readonly profile: BoardProfile;
  readonly random: () => number;
}

/** What its serial buffer holds while a tool runs, UTF-16 code units; the rest is lost. */
const unreadMax = 4_096;

export class SimulatedBoard {
  readonly profile: BoardProfile;
  /** How often each tool began to run. */
  readonly toolCounts = new Map<string, number>();
  connections = 0;
  readonly #pins: readonly BoardPin[];
  readonly #noise: () => number;
  /** A tool keeps the main loop until then. */
  #busy: { readonly until: number; readonly answer: string } | undefined;
  #unread = '';
  #effects: BoardEffect[] = [];

  constructor({ profile, random }: BoardSetup) {
    this.profile = profile;
    this.#noise = random;
    this.#pins = profile.pins.map((setup) => new BoardPin(setup, profile.analogMax, random));
  }

  /** What its outputs drive, by their names. */
  get outputs(): Readonly<Record<string, boolean | number>> {
    return Object.fromEntries(
      this.#pins.filter(({ isOutput }) => isOutput).map(({ setup, output }) => [setup.name, output]),
    );
  }

  /** A client has connected, and the sketch restarts for it. */
  connected(now: number): readonly BoardEffect[] {
    this.connections += 1;
    for (const pin of this.#pins) {
      pin.reset();
      pin.sampleUntil(now);
    }
    return this.profile.bootNoise === '' ? [] : [{ kind: 'send', text: this.profile.bootNoise }];
  }

  /** Running work ends without an answer. */
  disconnected(): void {
    this.#busy = undefined;
    this.#unread = '';
  }

  /** So much had arrived when the main loop looked. */
  receive(text: string, now: number): readonly BoardEffect[] {
    this.#unread = (this.#unread + text).slice(0, unreadMax);
    if (this.#busy === undefined) this.#readAll(now);
    return this.#take();
  }

  tick(now: number): readonly BoardEffect[] {
    if (this.#busy !== undefined && now >= this.#busy.until) {
      this.#effects.push({ kind: 'send', text: this.#busy.answer });
      this.#busy = undefined;
      this.#readAll(now);
    }
    return this.#take();
  }

  /**
   * Each line, and a rest without line end, counts as a request. Longer lines are read in pieces.
   */
  #readAll(now: number): void {
    while (this.#busy === undefined && this.#unread !== '') {
      const end = this.#unread.indexOf('\n');
      const line = end === -1 ? this.#unread : this.#unread.slice(0, end);
      const piece = utf8Length(line) <= this.profile.lineBytesMax ? line : line.slice(0, this.profile.lineBytesMax);
      this.#unread = this.#unread.slice(piece.length + (piece.length === line.length && end !== -1 ? 1 : 0));
      const text = piece.replaceAll('\r', '');
      if (text !== '') this.#serve(text, now);
    }
  }

  #serve(line: string, now: number): void {
    const request = readBoardRequest(line, this.profile.intBits);
    if (request.kind === 'ignored') return;
    if (request.kind === 'refused') {
      const { id, code, message } = request;
      this.#effects.push({
        kind: 'send',
        text: `${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\r\n`,
      });
      return;
    }
    const { id, method, params } = request;
    const { result, error, takesMs = 0, prints = '' } = this.#run(method, params, now);
    // Members in the firmware's order; a result that is undefined is left out.
    const frame = error === undefined ? { result, jsonrpc: '2.0', id } : { jsonrpc: '2.0', id, error };
    const text = `${prints}${JSON.stringify(frame)}\r\n`;
    if (takesMs === 0) {
      this.#effects.push({ kind: 'send', text });
      return;
    }
    this.#busy = { until: now + takesMs, answer: text };
    this.#effects.push({ kind: 'wakeAt', at: now + takesMs });
  }

  /** Built-in names are looked up first. */
  #run(method: string, params: Readonly<Record<string, unknown>>, now: number): SketchAnswer {
    if (method === 'list_tools') return { result: boardListing(this.profile) };
    const builtIn = builtInTools.get(method);
    const own = this.profile.tools.find(({ name }) => name === method);
    if (builtIn === undefined && own === undefined) return { error: { code: -32_601, message: 'Method not found' } };
    this.toolCounts.set(method, (this.toolCounts.get(method) ?? 0) + 1);
    for (const pin of this.#pins) pin.sampleUntil(now);
    return builtIn
      ? builtIn({ profile: this.profile, pins: this.#pins }, params, now)
      : (own?.run(params, this.#noise) ?? {});
  }

  #take(): readonly BoardEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
