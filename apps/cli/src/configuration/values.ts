/** Values of configuration files: comparison, secrets from the environment, names for ids. Pure. */
import { createHash } from 'node:crypto';
import type { Document } from './document.js';
import { isFields, isFromEnvironment, type Fields, type Kind } from './kind.js';

/** What the API returns in place of a secret. */
export const MASK = '***';

/** Replaces values from the inside out. */
export function mapped(value: unknown, change: (value: unknown, key: string | undefined) => unknown): unknown {
  const walk = (inner: unknown, key: string | undefined): unknown => {
    if (isFromEnvironment(inner)) return change(inner, key);
    if (Array.isArray(inner))
      return change(
        inner.map((item) => walk(item, undefined)),
        key,
      );
    if (!isFields(inner)) return change(inner, key);
    return change(Object.fromEntries(Object.entries(inner).map(([name, item]) => [name, walk(item, name)])), key);
  };
  return walk(value, undefined);
}

/** The value of a file in a comparable form. Null and missing are the same. */
export function normalField(kind: Pick<Kind, 'sets' | 'textLists' | 'within'>, name: string, value: unknown): unknown {
  const added = kind.within?.[name];
  if (added !== undefined) return withAdded(value, added);
  if (kind.sets?.includes(name) === true && Array.isArray(value)) return [...new Set(value.map(String))].sort();
  if (kind.textLists?.includes(name) === true && typeof value === 'string') return partsOf(value);
  return value ?? null;
}

/** Null for a list without parts. */
function partsOf(text: string): readonly string[] | null {
  const parts = text.split(',').map((part) => part.trim());
  const named = parts.filter((part) => part !== '');
  return named.length === 0 ? null : named;
}

/** Lists in `added` are for what the value has, a list or an object; the others are values. */
function withAdded(value: unknown, added: unknown): unknown {
  if (Array.isArray(added))
    return Array.isArray(value) ? value.map((item) => withAdded(item, added[0])) : withAdded(value, added[0]);
  if (!isFields(added) || !isFields(value)) return value;
  const parts = Object.entries(added).map(([name, part]) =>
    Array.isArray(part) ? [name, withAdded(value[name], part)] : [name, value[name] ?? part],
  );
  return { ...value, ...Object.fromEntries(parts) };
}

/** Whether the hub has what the file says. A masked secret may be the one of the environment. */
export function matches(wanted: unknown, live: unknown, environment: NodeJS.ProcessEnv): boolean {
  if (isFromEnvironment(wanted))
    return (
      live === MASK ||
      (isFromEnvironment(live) && live.fromEnv === wanted.fromEnv) ||
      isIn(environment, wanted.fromEnv, live)
    );
  if (Array.isArray(wanted) || Array.isArray(live))
    return (
      Array.isArray(wanted) &&
      Array.isArray(live) &&
      wanted.length === live.length &&
      wanted.every((item, index) => matches(item, live[index], environment))
    );
  if (!isFields(wanted) || !isFields(live)) return sameText(wanted, live);
  const names = new Set([...Object.keys(wanted), ...Object.keys(live)]);
  return [...names].every((name) => matches(wanted[name] ?? null, live[name] ?? null, environment));
}

function isIn(environment: NodeJS.ProcessEnv, name: string, live: unknown): boolean {
  return environment[name] !== undefined && environment[name] === live;
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/;

/** Times are equal if they are the same moment. */
function sameText(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'string' || typeof other !== 'string') return false;
  return ISO_TIME.test(one) && ISO_TIME.test(other) && Date.parse(one) === Date.parse(other);
}

/** The names of all variables that the fields refer to. */
export function variablesIn(fields: unknown): readonly string[] {
  const names = new Set<string>();
  mapped(fields, (value) => {
    if (isFromEnvironment(value)) names.add(value.fromEnv);
    return value;
  });
  return [...names];
}

/** Puts the values of variables in. Each must be set: see `variablesIn`. */
export function withSecrets(fields: Fields, environment: NodeJS.ProcessEnv): Fields {
  return mapped(fields, (value) => (isFromEnvironment(value) ? environment[value.fromEnv] : value)) as Fields;
}

/**
 * Replaces masked secrets by references, with names made of their paths. A name that fits several
 * paths gets a hash of its path: with a number, a new thing could take the variable of another.
 */
export function withReferences(document: Document): Document {
  const uses = new Map<string, number>();
  replaceMasks(document, (path) => {
    if (!isAscii(path.join(''))) return;
    const name = variableName(path);
    uses.set(name, (uses.get(name) ?? 0) + 1);
  });
  return replaceMasks(document, (path) => {
    const name = variableName(path);
    const isPlain = uses.get(name) === 1 && isAscii(path.join(''));
    return { fromEnv: isPlain ? name : `${name}_${shortHash(path)}` };
  });
}

function replaceMasks(document: Document, change: (path: readonly string[]) => unknown): Document {
  const walk = (value: unknown, path: readonly string[]): unknown => {
    if (value === MASK) return change(path);
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, String(index)]));
    if (!isFields(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  const things = (kind: string, named: ReadonlyMap<string, Fields>) =>
    new Map([...named].map(([name, fields]) => [name, walk(fields, [kind, name]) as Fields]));
  return new Map([...document].map(([kind, named]) => [kind, things(kind, named)]));
}

function variableName(path: readonly string[]): string {
  return path
    .map((part) => part.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[^A-Za-z0-9]+/g, '_'))
    .join('_')
    .replace(/^(\d)/, '_$1')
    .toUpperCase();
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

function shortHash(path: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(path)).digest('hex').slice(0, 6).toUpperCase();
}
