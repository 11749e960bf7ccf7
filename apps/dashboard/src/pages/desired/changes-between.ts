/** What differs between two JSON values, leaf by leaf. Lists are compared as a whole. */
import { isObject } from '../../parts/unknown-values';

export interface Change {
  /** Dotted, such as `arguments.volume`. */
  readonly path: string;
  /** Undefined: it was not there. */
  readonly before: unknown;
  readonly after: unknown;
}

export function changesBetween(before: unknown, after: unknown, at = ''): readonly Change[] {
  if (!isObject(before) || !isObject(after))
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path: at, before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => changesBetween(before[name], after[name], at === '' ? name : `${at}.${name}`));
}
