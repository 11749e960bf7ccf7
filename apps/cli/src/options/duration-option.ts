/** Durations as people type them: `30s`, `10m`, `2h` or `7d`, with one syntax everywhere. */
import { UsageError } from '../exit-codes.js';
import { givenTwice } from './number-option.js';

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;
const unitNames = { s: 'seconds', m: 'minutes', h: 'hours', d: 'days', w: 'weeks' } as const;

type Unit = keyof typeof unitSeconds;

/** A hundred years, so that dates stay valid. */
export const durationMax = '36500d';
/** The largest number of the API, 2,147,483,647, as seconds. */
const secondsMax = '24855d';

interface DurationBounds {
  /** The unit of a number without one: each option had such a unit before durations. */
  readonly plain: Unit;
  /** The bounds as durations, such as `300s`. Default: what the API takes as a number. */
  readonly min?: string;
  readonly max?: string;
  /** Whether parts of seconds count. Default: the result is rounded to whole seconds. */
  readonly isFraction?: boolean;
}

/** An option of yargs with a duration, in seconds; its value is undefined if it is not given. */
export function durationOption(name: string, describe: string, bounds: DurationBounds) {
  return {
    type: 'string',
    requiresArg: true,
    describe: `${describe} (such as 30s, 10m, 2h or 7d; a plain number counts ${unitNames[bounds.plain]})`,
    coerce: (typed: unknown): number | undefined => (typed === undefined ? undefined : durationOf(name, typed, bounds)),
  } as const;
}

/** The duration in seconds. */
export function durationOf(
  name: string,
  typed: unknown,
  { plain, min = '0s', max = secondsMax, isFraction = false }: DurationBounds,
): number {
  if (Array.isArray(typed)) throw givenTwice(name);
  const seconds = secondsIn(String(typed), plain);
  if (seconds === undefined || seconds < boundIn(min) || seconds > boundIn(max))
    throw new UsageError(
      `--${name} must be a duration such as 30s, 10m, 2h or 7d, from ${min} to ${max}, not "${String(typed)}".`,
    );
  return isFraction ? seconds : Math.round(seconds);
}

/** Undefined if the text is not a duration. Without `plain`, a number needs its unit. */
export function secondsIn(text: string, plain?: Unit): number | undefined {
  const [, digits, typedUnit] = /^([\d.]{1,15})([smhdw])?$/.exec(text.trim()) ?? [];
  const unit = (typedUnit as Unit | undefined) ?? plain;
  const count = Number(digits);
  return unit === undefined || Number.isNaN(count) ? undefined : count * unitSeconds[unit];
}

function boundIn(text: string): number {
  return secondsIn(text) ?? Number.NaN;
}
