/**
 * Reads JSON as the firmware's parser (cJSON) does: names ignore case, the first member wins,
 * strings end at NUL, trailing text is ignored. [xiaozhi §4.1] A strict parser would hide requests
 * that a device misunderstands.
 */

export type FirmwareValue = string | number | boolean | null | FirmwareObject | readonly FirmwareValue[];

/** cJSON refuses deeper nesting; so do we, before the stack does. */
const DEPTH_MAX = 1000;

const NUMBER = /-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONE_SURROGATE = /\p{Surrogate}/u;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Members in the order of the text, looked up as the firmware does. */
export class FirmwareObject {
  readonly #names: string[] = [];
  readonly #values: FirmwareValue[] = [];

  add(name: string, value: FirmwareValue): void {
    this.#names.push(name);
    this.#values.push(value);
  }

  /** In the order of the text, repeated names included. */
  *entries(): Iterable<[string, FirmwareValue]> {
    for (let index = 0; index < this.#names.length; index++) {
      const [name, value] = [this.#names[index], this.#values[index]];
      if (name !== undefined && value !== undefined) yield [name, value];
    }
  }

  /** The first member whose name equals `name` apart from ASCII case. */
  get(name: string): FirmwareValue | undefined {
    for (let index = 0; index < this.#names.length; index++) {
      const candidate = this.#names[index];
      if (candidate !== undefined && (candidate === name || equalApartFromCase(candidate, name)))
        return this.#values[index];
    }
    return undefined;
  }
}

/** Undefined where the firmware's parser would fail; it never throws. */
export function readFirmwareJson(text: string): FirmwareValue | undefined {
  const end = text.indexOf('\0');
  const reader = new Reader(end < 0 ? text : text.slice(0, end));
  return reader.value(0);
}

function equalApartFromCase(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (lowerAscii(a.charCodeAt(index)) !== lowerAscii(b.charCodeAt(index))) return false;
  }
  return true;
}

function lowerAscii(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}

function untilNul(text: string): string {
  const nul = text.indexOf('\0');
  return nul < 0 ? text : text.slice(0, nul);
}

class Reader {
  #at: number;

  constructor(private readonly text: string) {
    this.#at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  value(depth: number): FirmwareValue | undefined {
    this.#skipBlanks();
    switch (this.text[this.#at]) {
      case '"':
        return this.#string();
      case '{':
        return depth < DEPTH_MAX ? this.#object(depth + 1) : undefined;
      case '[':
        return depth < DEPTH_MAX ? this.#array(depth + 1) : undefined;
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #skipBlanks(): void {
    while (this.text.charCodeAt(this.#at) <= 0x20) this.#at++;
  }

  /** Moves past `character` when it comes next. */
  #take(character: string): boolean {
    this.#skipBlanks();
    if (this.text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #word<T extends boolean | null>(word: string, value: T): T | undefined {
    if (!this.text.startsWith(word, this.#at)) return undefined;
    this.#at += word.length;
    return value;
  }

  #number(): number | undefined {
    NUMBER.lastIndex = this.#at;
    const digits = NUMBER.exec(this.text)?.[0];
    if (digits === undefined) return undefined;
    this.#at += digits.length;
    return Number.parseFloat(digits);
  }

  #object(depth: number): FirmwareObject | undefined {
    const object = new FirmwareObject();
    this.#at++;
    if (this.#take('}')) return object;
    do {
      this.#skipBlanks();
      const name = this.text.charCodeAt(this.#at) === QUOTE ? this.#string() : undefined;
      if (name === undefined || !this.#take(':')) return undefined;
      const value = this.value(depth);
      if (value === undefined) return undefined;
      object.add(name, value);
    } while (this.#take(','));
    return this.#take('}') ? object : undefined;
  }

  #array(depth: number): FirmwareValue[] | undefined {
    const items: FirmwareValue[] = [];
    this.#at++;
    if (this.#take(']')) return items;
    do {
      const value = this.value(depth);
      if (value === undefined) return undefined;
      items.push(value);
    } while (this.#take(','));
    return this.#take(']') ? items : undefined;
  }

  #string(): string | undefined {
    const start = this.#at + 1;
    let escaped = false;
    for (let index = start; index < this.text.length; index++) {
      const code = this.text.charCodeAt(index);
      if (code === BACKSLASH) {
        escaped = true;
        index++;
      } else if (code === QUOTE) {
        this.#at = index + 1;
        const raw = this.text.slice(start, index);
        return escaped ? resolveEscapes(raw) : raw;
      }
    }
    return undefined;
  }
}

/**
 * Undefined for an escape that cJSON rejects: unknown letter, bad hex digits, half a surrogate
 * pair.
 */
function resolveEscapes(raw: string): string | undefined {
  let isValid = true;
  const plain = raw.replace(
    /\\(?:u([0-9a-fA-F]{4})|([^]))/g,
    (_match, hex: string | undefined, letter: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      const character = letter === undefined ? undefined : ESCAPES[letter];
      if (character === undefined) isValid = false;
      return character ?? '';
    },
  );
  return isValid && !LONE_SURROGATE.test(plain) ? untilNul(plain) : undefined;
}
