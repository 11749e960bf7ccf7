import { describe, expect, it } from 'vitest';
import { problemOf } from './validation-problem';

describe('the problem of a field', () => {
  it.each([
    ['a missing value', { type: 'text', validity: { valueMissing: true } }, { is: 'missing' }],
    ['no address', { type: 'email', validity: { typeMismatch: true } }, { is: 'email' }],
    ['no URL', { type: 'url', validity: { typeMismatch: true } }, { is: 'url' }],
    [
      'a short password',
      { type: 'password', minLength: 12, validity: { tooShort: true } },
      { is: 'tooShort', count: 12 },
    ],
    ['a low number', { type: 'number', min: '1', validity: { rangeUnderflow: true } }, { is: 'tooLow', limit: '1' }],
    ['a high number', { type: 'number', max: '9', validity: { rangeOverflow: true } }, { is: 'tooHigh', limit: '9' }],
    ['no number', { type: 'number', validity: { badInput: true } }, { is: 'number' }],
    ['another pattern', { type: 'text', validity: { patternMismatch: true } }, { is: 'invalid' }],
  ])('is %s', (_what, field, problem) => {
    expect(problemOf(field)).toEqual(problem);
  });

  it('does not exist for a valid field, nor where a script has set the message', () => {
    expect(problemOf({ type: 'text', validity: { valid: true } })).toBeUndefined();
    expect(problemOf({ type: 'text', validity: { customError: true } })).toBeUndefined();
  });
});
