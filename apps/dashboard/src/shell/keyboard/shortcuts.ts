/** The keyboard shortcuts: which there are, and what a sequence of keys asks for. */
import type { Rights } from '../../hub/rights';
import { navigationFor, type PageName } from '../navigation';

export type ShortcutAct =
  | { readonly is: 'palette' }
  | { readonly is: 'help' }
  | { readonly is: 'search' }
  /** To the next or the previous row of a list. */
  | { readonly is: 'move'; readonly by: 1 | -1 }
  | { readonly is: 'go'; readonly page: PageName };

/** A key, as the browser reports it. */
export interface PressedKey {
  readonly key: string;
  readonly hasControl: boolean;
  readonly hasAlt: boolean;
  /** Ms; only differences count. */
  readonly at: number;
}

/** The first key of a sequence, until the second one comes or the time is over. */
export interface StartedSequence {
  readonly startedAt: number;
}

interface ReadKey {
  readonly act?: ShortcutAct;
  readonly started?: StartedSequence;
}

/** Pages by the key after `g`. */
export const pageKeys = {
  o: 'overview',
  d: 'devices',
  j: 'jobs',
  r: 'recurring',
  t: 'desired',
  f: 'firmware',
  m: 'measurements',
  n: 'enrolments',
  l: 'alerts',
  c: 'calls',
  e: 'events',
  x: 'explore',
  a: 'audit',
  k: 'access',
  w: 'webhooks',
  s: 'settings',
} as const satisfies Readonly<Record<string, PageName>>;

/** The keys of the pages that the viewer may open. */
export function pageKeysFor(viewer: Rights): readonly { readonly key: string; readonly page: PageName }[] {
  const names = new Set(navigationFor(viewer).map(({ name }) => name));
  return Object.entries(pageKeys).flatMap(([key, page]) => (names.has(page) ? [{ key, page }] : []));
}

const firstKey = 'g';
/** Ms between the two keys of a sequence. */
export const sequenceMs = 1_500;

const single: Readonly<Record<string, ShortcutAct>> = {
  '/': { is: 'search' },
  '?': { is: 'help' },
  j: { is: 'move', by: 1 },
  k: { is: 'move', by: -1 },
};

/** Control (or Command) and K, which also works while a person types. */
function isPaletteKey({ key, hasControl, hasAlt }: PressedKey): boolean {
  return hasControl && !hasAlt && key.toLowerCase() === 'k';
}

/** Reads one key. With a modifier it belongs to the browser or to assistive technology. */
export function readKey(started: StartedSequence | undefined, pressed: PressedKey): ReadKey {
  if (isPaletteKey(pressed)) return { act: { is: 'palette' } };
  const { at, hasAlt, hasControl, key } = pressed;
  if (hasControl || hasAlt) return {};
  if (started !== undefined && at - started.startedAt <= sequenceMs) {
    const page = Object.hasOwn(pageKeys, key) ? pageKeys[key as keyof typeof pageKeys] : undefined;
    return page === undefined ? {} : { act: { is: 'go', page } };
  }
  if (key === firstKey) return { started: { startedAt: at } };
  const act = Object.hasOwn(single, key) ? single[key] : undefined;
  return act === undefined ? {} : { act };
}

/** The row after or before the present one; the first one if none is chosen. */
export function nextRow(count: number, present: number, by: 1 | -1): number | undefined {
  if (count === 0) return undefined;
  if (present < 0) return 0;
  return Math.min(count - 1, Math.max(0, present + by));
}
