/**
 * Number options, checked while the command line is parsed: invalid values fail before anything is
 * sent.
 */
import { UsageError } from '../exit-codes.js';

interface NumberBounds {
  readonly min: number;
  readonly max: number;
  /** Whether fractions are allowed. Default: whole numbers only. */
  readonly isFraction?: boolean;
}

/** The largest number that the API accepts. */
export const intMax = 2_147_483_647;

/** yargs turns a repeated option into a list. */
export function givenTwice(name: string): UsageError {
  return new UsageError(`--${name} is given more than once. Give it once.`);
}

/** Parses a number. An empty text, as from an unset shell variable, counts as absent. */
export function numberOf(name: string, typed: unknown, { min, max, isFraction = false }: NumberBounds): number {
  if (Array.isArray(typed)) throw givenTwice(name);
  const value = typeof typed === 'string' && typed.trim() === '' ? Number.NaN : Number(typed);
  if (!(value >= min && value <= max) || !(isFraction || Number.isInteger(value)))
    throw new UsageError(
      `--${name} must be a ${isFraction ? '' : 'whole '}number from ${min} to ${max}, not "${String(typed)}".`,
    );
  return value;
}

/** An option of yargs; its value is undefined if it is not given. */
export function numberOption(name: string, describe: string, bounds: NumberBounds) {
  return {
    type: 'string',
    requiresArg: true,
    describe,
    coerce: (typed: unknown): number | undefined => (typed === undefined ? undefined : numberOf(name, typed, bounds)),
  } as const;
}
