/** Reads a device's text once, for the machine: as a known page of tools without parsing where that is possible, by the dialect otherwise. */
import type { Dialect } from '../dialect.js';
import type { MachineState } from './machine-state.js';
import type { ToolPageCache } from '../session-contract.js';
import type { SessionInput } from './session-input.js';

/** A device's text at the moment of its arrival. */
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
  const known = cache.recall(pageText);
  if (known !== undefined) return { kind: 'page', id, page: known, now };
  const message = dialect.read(text);
  // Only what this text means as a whole may be remembered for its part: another id or an error in it, and it is no page.
  const page = message.kind === 'result' && message.id === id ? dialect.readPage(message.result) : undefined;
  if (page === undefined) return { kind: 'message', message, now };
  cache.remember(pageText, page);
  return { kind: 'page', id, page, now };
}
