/** What a board makes of a line: the rules of its dispatcher, in its order, with everything that it silently drops. [mcpu §1, §2.6] */

export type BoardRequest =
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'refused'; readonly id: number; readonly code: number; readonly message: string }
  /** An id that is no integer of the board's: nothing is answered. */
  | { readonly kind: 'ignored' };

/** Levels of nesting that its parser takes. */
const depthMax = 10;

type Members = Readonly<Record<string, unknown>>;

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const invalid: BoardRequest = { kind: 'refused', id: 0, code: -32_600, message: 'Invalid request' };

export function readBoardRequest(line: string, intBits: 16 | 32): BoardRequest {
  const value = parseFirst(line);
  if (value === undefined) return { kind: 'refused', id: 0, code: -32_700, message: 'Parse error' };
  if (!isMembers(value) || value['jsonrpc'] !== '2.0') return invalid;
  const { id, method, params } = value;
  const half = 2 ** (intBits - 1);
  if (typeof id !== 'number' || !Number.isInteger(id) || id >= half || id < -half) return { kind: 'ignored' };
  if (typeof method !== 'string') return { kind: 'refused', id, code: -32_600, message: 'Missing method' };
  return { kind: 'request', id, method, params: isMembers(params) ? params : {} };
}

/** The first value of the line; what follows it is not looked at. Undefined for what is none. Of equal members the last wins, as with `JSON.parse`. */
function parseFirst(line: string): unknown {
  const end = endOfFirst(line);
  if (end === undefined) return undefined;
  try {
    return JSON.parse(line.slice(0, end));
  } catch {
    return undefined;
  }
}

/** Where the first object or list ends; the whole line for scalars. Undefined where it does not end or nests too deep. */
function endOfFirst(line: string): number | undefined {
  if (!/^\s*[[{]/.test(line)) return line.length;
  let depth = 0;
  for (const { 0: token, index } of line.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > depthMax) return undefined;
    if (depth === 0) return index + token.length;
  }
  return undefined;
}
