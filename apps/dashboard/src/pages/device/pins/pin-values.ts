/** What is known of the pins of a microcontroller, from reads, writes and samples. */
import { isObject } from '../../../parts/unknown-values';

/** How a pin is shown. `other` is a type that this console does not know. */
type PinKind = 'switch' | 'level' | 'duty' | 'analogue' | 'other';

export interface PinValue {
  /** A level, a duty from 0 to 255, or a reading of the converter. */
  readonly value: boolean | number;
  /** The same in volts, if the board says so. */
  readonly volts?: number;
  /** RFC 3339. */
  readonly at: string;
}

/** By the number of the pin. */
export type PinValues = Readonly<Record<number, PinValue>>;

const kinds: Readonly<Record<string, PinKind>> = {
  digital_output: 'switch',
  digital_input: 'level',
  pwm_output: 'duty',
  adc_input: 'analogue',
};

export function kindOf(type: string): PinKind {
  return Object.hasOwn(kinds, type) ? (kinds[type] ?? 'other') : 'other';
}

/** The tool that reads a pin; the duty of a PWM pin cannot be read. [mcpu §3] */
export function readToolOf(kind: PinKind): 'gpio_read' | 'adc_read' | undefined {
  if (kind === 'switch' || kind === 'level') return 'gpio_read';
  return kind === 'analogue' ? 'adc_read' : undefined;
}

/** The value in the answer of a pin tool, such as `{"pin":16,"value":true}`. */
export function answeredValue(answer: unknown, at: string): PinValue | undefined {
  if (!isObject(answer)) return undefined;
  const { value = answer['duty'], volts, mv } = answer;
  if (typeof value !== 'boolean' && typeof value !== 'number') return undefined;
  if (typeof volts === 'number') return { value, volts, at };
  return typeof mv === 'number' ? { value, volts: mv / 1_000, at } : { value, at };
}

interface AnsweredCall {
  readonly startedAt: string;
  readonly durationMs: number | null;
}

/** By the clock of the hub, as samples have it. The clock of this browser may differ. */
export function answeredAt({ startedAt, durationMs }: AnsweredCall): string {
  return new Date(Date.parse(startedAt) + (durationMs ?? 0)).toISOString();
}

/** The pin and the newest value in an event of samples, if it is about a pin. */
export function sampledValue(
  data: unknown,
  at: string,
): { readonly pin: number; readonly value: PinValue } | undefined {
  if (!isObject(data) || typeof data['pin'] !== 'number' || !Array.isArray(data['values'])) return undefined;
  const newest: unknown = data['values'].at(-1);
  return typeof newest === 'number' || typeof newest === 'boolean'
    ? { pin: data['pin'], value: { value: newest, at } }
    : undefined;
}

/** A value replaces an older one, in any order of arrival. */
export function withValue(values: PinValues, pin: number, value: PinValue | undefined): PinValues {
  const known = values[pin];
  if (value === undefined || (known !== undefined && Date.parse(known.at) > Date.parse(value.at))) return values;
  return { ...values, [pin]: value };
}
