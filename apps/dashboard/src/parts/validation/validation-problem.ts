/**
 * What is wrong with a field of a form, from the checks of the browser. The browser has sentences
 * too, but in its own language, which may not be that of the console.
 */

export type ValidationProblem =
  | { readonly is: 'missing' | 'email' | 'url' | 'number' | 'invalid' }
  | { readonly is: 'tooShort'; readonly count: number }
  | { readonly is: 'tooLow' | 'tooHigh'; readonly limit: string };

interface CheckedField {
  readonly type: string;
  readonly minLength?: number;
  readonly min?: string;
  readonly max?: string;
  readonly validity: Readonly<Partial<ValidityState>>;
}

/** Undefined for a field that is valid, or whose message was set by a script. */
export function problemOf({ type, validity, minLength, min, max }: CheckedField): ValidationProblem | undefined {
  if (validity.valid || validity.customError) return undefined;
  if (validity.valueMissing) return { is: 'missing' };
  if (validity.typeMismatch && (type === 'email' || type === 'url')) return { is: type };
  if (validity.tooShort && minLength !== undefined) return { is: 'tooShort', count: minLength };
  if (validity.rangeUnderflow && min) return { is: 'tooLow', limit: min };
  if (validity.rangeOverflow && max) return { is: 'tooHigh', limit: max };
  return { is: validity.badInput && type === 'number' ? 'number' : 'invalid' };
}
