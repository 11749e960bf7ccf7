/**
 * The kinds of settings: how each is read from a text, and the rule that an error message states.
 */
import { dialNetworkProblem } from '@flotilla/gateway';
import { z } from 'zod';

/** Empty variables count as unset, because compose files cannot leave a variable out. */
export const unset = (value: unknown) => (value === '' ? undefined : value);

/**
 * A secret from a file often ends with the line break of the file. Clients cannot send that, so it
 * is not part of the secret.
 */
export const line = (value: unknown) => unset(typeof value === 'string' ? value.replace(/[\r\n]+$/, '') : value);

/** Hosts that only this machine reaches. */
export const loopback = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;

/** The largest number of days; more is a mistake. */
const DAYS_MAX = 3_650;
const PORT_MAX = 65_535;
const portRule = 'must be a port number from 0 (pick a free one) to 65535';

export const optionalText = z.preprocess(unset, z.string().optional());
export const textOr = (fallback: string) => z.preprocess(unset, z.string().default(fallback));
export const secretLine = z.preprocess(line, z.string().optional());
export const textOfLength = (min: number) =>
  z.preprocess(unset, z.string().min(min, `must have at least ${min} characters`).optional());
export const matching = (pattern: RegExp, rule: string, read = unset) =>
  z.preprocess(read, z.string().regex(pattern, rule).optional());

/** The value of a header. The usual mistake is a line break at the end of a file. */
const headerOf = (read: typeof unset) =>
  matching(/^[\x20-\x7e]+$/, 'must be plain letters, digits and signs on one line', read);
export const headerText = headerOf(unset);
export const headerLine = headerOf(line);

/** One of several words. */
export const choice = <const Word extends string>(words: readonly [Word, ...Word[]], fallback: Word) =>
  z.preprocess(
    unset,
    z.enum(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`).default(fallback as never),
  );

/** A text for which `problemOf` returns no problem. */
export const checked = (problemOf: (text: string) => string | undefined, read = unset) =>
  z.preprocess(
    read,
    z
      .string()
      .superRefine((text, context) => {
        const message = problemOf(text);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional(),
  );

const isNumberIn = (min: number, max: number) => (text: string) =>
  /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max;

interface NumberBounds {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

/**
 * A whole number in these bounds. `or` is a special value outside of them, which the rule explains.
 */
export const numberIn = ({ fallback, min, max }: NumberBounds, rule: string, or = fallback) =>
  z.preprocess(
    unset,
    z
      .string()
      .default(String(fallback))
      .refine((text) => text === String(or) || isNumberIn(min, max)(text), rule)
      .transform(Number),
  );

export const port = (fallback: number) => numberIn({ fallback, min: 0, max: PORT_MAX }, portRule);

/** A port; `off`, for no listener, becomes undefined. */
export const portOrOff = (fallback: number) =>
  z.preprocess(
    unset,
    z
      .string()
      .default(String(fallback))
      .refine((text) => text === 'off' || isNumberIn(0, PORT_MAX)(text), `${portRule}, or off for no listener`)
      .transform((text) => (text === 'off' ? undefined : Number(text))),
  );

export const days = (fallback: number) =>
  numberIn({ fallback, min: 1, max: DAYS_MAX }, `must be a number of days from 1 to ${DAYS_MAX}`);

/** Whole seconds, which become milliseconds. */
export const seconds = ({ fallbackMs, min, max }: { fallbackMs: number; min: number; max: number }) =>
  numberIn({ fallback: fallbackMs / 1_000, min, max }, `must be a number of seconds from ${min} to ${max}`).transform(
    (value) => value * 1_000,
  );

export const optionalUrl = (protocols: readonly string[]) =>
  checked((text) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol)
      ? undefined
      : `must be a URL that begins with ${protocols.join(' or ')}`,
  );

/**
 * Entries between commas; `read` returns an entry's value, or throws a RangeError with its problem.
 */
export const listOf = <Value>(read: (entry: string) => Value) =>
  z.preprocess(
    unset,
    z
      .string()
      .default('')
      .transform((text, context) => {
        const entries = text.split(',').map((part) => part.trim());
        return entries.flatMap((entry) => {
          if (entry === '') return [];
          try {
            return [read(entry)];
          } catch (error) {
            if (!(error instanceof RangeError)) throw error;
            context.addIssue({ code: 'custom', message: error.message });
            return [];
          }
        });
      }),
  );

/** A list of entries for which `problemOf` returns no problem. */
export const checkedList = (problemOf: (entry: string) => string | undefined) =>
  listOf((entry) => {
    const problem = problemOf(entry);
    if (problem !== undefined) throw new RangeError(problem);
    return entry;
  });

/** A list of origins with these protocols; a message shows `example`. */
export const originsOf = (protocols: readonly string[], example: string) =>
  listOf((entry) => {
    if (URL.canParse(entry) && protocols.includes(new URL(entry).protocol)) return new URL(entry).origin;
    throw new RangeError(`must list origins such as ${example}, not "${entry}"`);
  });

export const originList = originsOf(['http:', 'https:'], 'https://files.example.net');
export const networkList = checkedList(dialNetworkProblem);
