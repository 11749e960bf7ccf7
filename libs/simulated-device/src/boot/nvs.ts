/**
 * The flash with the transport settings. Its limits abort the firmware if an answer exceeds one.
 * [xiaozhi §7.3]
 */
import { utf8Length } from '../json/utf8.js';

/** Characters of a member's name. */
const NAME_MAX = 15;
/** Bytes of a string with its NUL. */
const STRING_BYTES_MAX = 4_000;
/** A 16 KB partition: three of its four pages, 126 entries each. */
const ENTRIES_MAX = 378;
const ENTRY_BYTES = 32;

export type NvsNamespace = 'mqtt' | 'websocket';
type NvsValue = string | number;

export class Nvs {
  readonly #values: Map<string, NvsValue>;
  #entries: number;

  /** What an earlier run has left. */
  constructor(contents: Readonly<Record<string, NvsValue>> = {}) {
    this.#values = new Map(Object.entries(contents));
    this.#entries = Object.values(contents).reduce<number>((sum, value) => sum + entriesOf(value), 0);
  }

  get contents(): Readonly<Record<string, NvsValue>> {
    return Object.fromEntries(this.#values);
  }

  /** Keeps the value. Says why where the firmware aborts instead. */
  store(namespace: NvsNamespace, name: string, value: NvsValue): string | undefined {
    const key = `${namespace}.${name}`;
    if (name.length === 0 || name.length > NAME_MAX) return `the name ${key} has not 1 to ${NAME_MAX} characters`;
    if (typeof value === 'string' && utf8Length(value) + 1 > STRING_BYTES_MAX)
      return `${key} is longer than ${STRING_BYTES_MAX} bytes`;
    const former = this.#values.get(key);
    if (former !== undefined && typeof former !== typeof value)
      return `${key} was a ${typeof former} and is a ${typeof value}`;
    const entries = this.#entries + entriesOf(value) - (former === undefined ? 0 : entriesOf(former));
    if (entries > ENTRIES_MAX) return `there is no room for ${key}`;
    this.#entries = entries;
    this.#values.set(key, value);
    return undefined;
  }

  /** Empty if the setting is absent or a number. */
  text(namespace: NvsNamespace, name: string): string {
    const value = this.#values.get(`${namespace}.${name}`);
    return typeof value === 'string' ? value : '';
  }

  number(namespace: NvsNamespace, name: string): number | undefined {
    const value = this.#values.get(`${namespace}.${name}`);
    return typeof value === 'number' ? value : undefined;
  }

  erase(): void {
    this.#values.clear();
    this.#entries = 0;
  }
}

function entriesOf(value: NvsValue): number {
  return typeof value === 'number' ? 1 : 1 + Math.ceil((utf8Length(value) + 1) / ENTRY_BYTES);
}
