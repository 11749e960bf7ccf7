import { describe, expect, it } from 'vitest';
import { refusedAt, refusedIn, stepOf, stillRefused } from './refusals';

const share = { message: 'too far', path: ['input', 'waves', '0', 'percent'] };
const key = { message: 'used', path: ['idempotencyKey'] };

describe('refusals of the hub', () => {
  it('are found at their field, and at their step', () => {
    expect(refusedAt([key, share], 'waves', '0', 'percent')).toBe('too far');
    expect(refusedAt([key, share], 'waves')).toBeUndefined();
    expect(refusedIn([key, share], 'waves')).toBe('too far');
    expect(stepOf(share)).toBe('pace');
    expect(stepOf(key)).toBeUndefined();
  });

  it('are over once their field is changed', () => {
    const refusals = [key, share];
    expect(stillRefused(refusals, { name: 'x' })).toBe(refusals);
    expect(stillRefused(refusals, { waves: [] })).toEqual([key]);
  });
});
