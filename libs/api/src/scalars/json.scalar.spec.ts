import { parseValue } from 'graphql';
import { describe, expect, it } from 'vitest';
import { jsonScalar } from './json.scalar.js';

const literal = (text: string, variables = {}): unknown => jsonScalar.parseLiteral(parseValue(text), variables);

describe('JSON', () => {
  it('reads what is written into the query, variables included', () => {
    expect(literal('{ a: [1, -2.5, "x", true, null], b: { c: $v } }', { v: { d: 1 } })).toEqual({
      a: [1, -2.5, 'x', true, null],
      b: { c: { d: 1 } },
    });
  });

  it('keeps a member named __proto__ a member', () => {
    const value = literal('{ __proto__: { admin: true } }');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
  });

  it.each(['9007199254740993', '[1e400]'])('refuses %s, which a double does not hold', (text) => {
    expect(() => literal(text)).toThrow('double');
  });

  it('refuses deep nesting in literals and variables', () => {
    const deep = `${'['.repeat(40)}${']'.repeat(40)}`;
    expect(() => literal(deep)).toThrow('at most 32 levels');
    expect(() => jsonScalar.parseValue(JSON.parse(deep))).toThrow('at most 32 levels');
  });
});
