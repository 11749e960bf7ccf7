import { parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { shownOperation, type ShownOperation } from './shown-operation.js';

function shown(text: string, variableValues?: Record<string, unknown>, operationName?: string): ShownOperation {
  return shownOperation({ schema: undefined as never, document: parse(text), variableValues, operationName });
}

describe('what a subscription shows', () => {
  const filtered = 'subscription ($filter: EventFilter) { eventAdded(filter: $filter) { node { type } } }';

  it('is the same whichever events were asked for', () => {
    const [ofA, ofB] = ['a', 'b'].map((deviceId) => shown(filtered, { filter: { deviceId } }));
    expect(ofA?.key).toBe(ofB?.key);
    expect(shown('subscription { eventAdded(filter: {deviceId: "a"}) { node { type } } }').key).toBe(ofA?.key);
    expect(ofA && print(ofA.args.document).replace(/\s+/g, ' ')).toBe('subscription { eventAdded { node { type } } }');
    expect(ofA?.args.variableValues).toBeUndefined();
  });

  it('differs with the fields, their names and what is left out', () => {
    const texts = ['node { type }', 'node { id }', 'node { kind: type }', 'node { type @skip(if: true) }', '...F'];
    const fragment = 'fragment F on EventAddition { cursor }';
    const keys = texts.map(
      (text) => shown(`subscription { eventAdded { ${text} } } ${text === '...F' ? fragment : ''}`).key,
    );
    expect(new Set([...keys, shown('subscription { other: eventAdded { node { type } } }').key]).size).toBe(
      texts.length + 1,
    );
  });

  it('differs with variables that decide what is shown', () => {
    const text = 'subscription ($no: Boolean!) { eventAdded { cursor node @skip(if: $no) { type } } }';
    expect(shown(text, { no: true }).key).not.toBe(shown(text, { no: false }).key);
    expect(shown(text, { no: true }).args.variableValues).toEqual({ no: true });
    const inFragment =
      'subscription ($filter: EventFilter) { ...S } ' +
      'fragment S on Subscription { eventAdded(filter: $filter) { cursor } }';
    expect(shown(inFragment, { filter: {} }).args.variableValues).toEqual({ filter: {} });
  });

  it('differs by the selected operation', () => {
    const text = 'subscription A { eventAdded { cursor } } subscription B { eventAdded { node { id } } }';
    expect(shown(text, undefined, 'A').key).not.toBe(shown(text, undefined, 'B').key);
  });
});
