/**
 * Finds values that a device would misread. They are rejected even where the schema allows them.
 * [xiaozhi §4.1]
 */

/** The path of the value and the broken rule, which completes a sentence about the value. */
interface UnsafeValue {
  readonly path: string;
  readonly rule: string;
}

/** Levels of nesting in arguments. Known tools take flat ones; devices have a small stack. */
const argumentDepthMax = 16;

/** Returns the first unsafe value in plain data, or undefined. */
export function findUnsafeValue(value: unknown, path = '', depth = 0): UnsafeValue | undefined {
  if (typeof value === 'string') return unsafeText(value, path);
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { path, rule: 'must be a finite number' };
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value !== 'object' || !isPlain(value)) return { path, rule: 'must be plain JSON data' };
  if (depth === argumentDepthMax) return { path, rule: `must not nest deeper than ${argumentDepthMax} levels` };
  return Array.isArray(value) ? findInList(value, path, depth) : findInObject(value, path, depth);
}

function findInList(list: readonly unknown[], path: string, depth: number): UnsafeValue | undefined {
  for (const [at, item] of list.entries()) {
    const unsafe = findUnsafeValue(item, `${path}[${at}]`, depth + 1);
    if (unsafe !== undefined) return unsafe;
  }
  return undefined;
}

/** If two names differ only in case, devices use the first. */
function findInObject(object: object, path: string, depth: number): UnsafeValue | undefined {
  const seen = new Set<string>();
  for (const [name, member] of Object.entries(object)) {
    const memberPath = path === '' ? name : `${path}.${name}`;
    const folded = name.toLowerCase();
    if (seen.has(folded)) return { path: memberPath, rule: 'differs from another name only in case' };
    seen.add(folded);
    const unsafe = unsafeText(name, memberPath) ?? findUnsafeValue(member, memberPath, depth + 1);
    if (unsafe !== undefined) return unsafe;
  }
  return undefined;
}

/** On the device, NUL ends a string, and an unpaired surrogate invalidates the whole message. */
function unsafeText(text: string, path: string): UnsafeValue | undefined {
  if (text.includes('\0')) return { path, rule: 'must not contain NUL characters' };
  return /\p{Surrogate}/u.test(text) ? { path, rule: 'must not contain half of a surrogate pair' } : undefined;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
