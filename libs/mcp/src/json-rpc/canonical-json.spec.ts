import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.js';

describe('canonicalJson', () => {
  it('produces the same text for equal members in any order, at each level', () => {
    const one = { b: [{ y: 1, x: null }], a: { d: 'é', c: true } };
    const other = { a: { c: true, d: 'é' }, b: [{ x: null, y: 1 }] };
    expect(canonicalJson(one)).toBe('{"a":{"c":true,"d":"é"},"b":[{"x":null,"y":1}]}');
    expect(canonicalJson(other)).toBe(canonicalJson(one));
  });

  it('keeps the order of lists and omits members without a value', () => {
    expect(canonicalJson([3, { b: undefined, a: 1 }, 2])).toBe('[3,{"a":1},2]');
  });
});
