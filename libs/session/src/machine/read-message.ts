/**
 * Parses a device's text once. A known page of tools is found without parsing, if possible;
 * everything else goes to the dialect.
 */
import type { Dialect } from '../dialect.js';
import type { MachineState } from './machine-state.js';
import type { ToolPageCache } from '../session-contract.js';
import type { SessionInput } from './session-input.js';

/** A device's text and the time of its arrival. */
export interface ArrivedText {
  readonly text: string;
  readonly now: number;
}

export function readMessage(
  state: MachineState,
  dialect: Dialect,
  cache: ToolPageCache | undefined,
  { text, now }: ArrivedText,
): SessionInput {
  const { inFlight } = state;
  const pageText = cache !== undefined && inFlight?.kind === 'page' ? dialect.pageTextOf(text, inFlight.id) : undefined;
  if (cache === undefined || inFlight === undefined || pageText === undefined)
    return { kind: 'message', message: dialect.read(text), now };
  const { id } = inFlight;
  const known = cache.get(pageText);
  if (known !== undefined) return { kind: 'page', id, page: known, now };
  const message = dialect.read(text);
  // The cache may keep the page only if the whole text confirms it: with another id or an error it
  // is not a page.
  const page = message.kind === 'result' && message.id === id ? dialect.readPage(message.result) : undefined;
  if (page === undefined) return { kind: 'message', message, now };
  cache.set(pageText, page);
  return { kind: 'page', id, page, now };
}
