import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { operationKindOf } from './operation-kind';

const kindOf = (text: string, name?: string) => operationKindOf(parse(text).definitions, name);

describe('the kind of an operation', () => {
  it('is that of the named one, or of the only one', () => {
    const two = 'query A { a } subscription B { b } fragment F on X { x }';
    expect([kindOf(two, 'A'), kindOf(two, 'B'), kindOf('mutation { m }'), kindOf('subscription S { s }')]).toEqual([
      'query',
      'subscription',
      'mutation',
      'subscription',
    ]);
  });

  it('is not known without such an operation', () => {
    expect([kindOf('query A { a } subscription B { b }'), kindOf('fragment F on X { x }', 'A')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
