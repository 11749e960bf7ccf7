/**
 * Parses a line by the rules of the board's dispatcher, including everything that it silently
 * drops. [mcpu §1, §2.6]
 */

type BoardRequest =
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'refused'; readonly id: number; readonly code: number; readonly message: string }
  /** The id is not an integer of the board's range: no answer. */
  | { readonly kind: 'ignored' };

/** Levels of nesting that its parser takes. */
const depthMax = 10;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const invalid: BoardRequest = { kind: 'refused', id: 0, code: -32_600, message: 'Invalid request' };

export function readBoardRequest(line: string, intBits: 16 | 32): BoardRequest {
  const value = parseFirst(line);
  if (value === undefined) return { kind: 'refused', id: 0, code: -32_700, message: 'Parse error' };
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return invalid;
  const { id, method, params } = value;
  const half = 2 ** (intBits - 1);
  if (typeof id !== 'number' || !Number.isInteger(id) || id >= half || id < -half) return { kind: 'ignored' };
  if (typeof method !== 'string') return { kind: 'refused', id, code: -32_600, message: 'Missing method' };
  return { kind: 'request', id, method, params: isObject(params) ? params : {} };
}

/**
 * The first value of the line; the rest is ignored. Undefined if invalid. The last of equal members
 * wins, as in `JSON.parse`.
 */
function parseFirst(line: string): unknown {
  const end = endOfFirst(line);
  if (end === undefined) return undefined;
  try {
    return JSON.parse(line.slice(0, end));
  } catch {
    return undefined;
  }
}

/**
 * The end of the first object or list; the whole line for scalars. Undefined if unterminated or
 * nested too deep.
 */
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
