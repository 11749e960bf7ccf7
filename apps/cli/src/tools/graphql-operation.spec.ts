import { describe, expect, it } from 'vitest';
import { operationOf, variablesOf } from './graphql-operation.js';

const several = 'query A { viewer { name } } query B { device(id: 1) { ...F } } fragment F on Device { id }';

describe('an operation', () => {
  it('is the only one, or the one that is named, with its fragments', () => {
    expect(operationOf('{ viewer { name } }', undefined).kind).toBe('query');
    expect(operationOf(several, 'B').source).toContain('fragment F');
    expect(operationOf(several, 'A').source).not.toContain('fragment F');
  });

  it.each([
    [several, undefined, 'There are several operations: A, B. Choose one with --operation.'],
    [several, 'C', 'There is no operation "C". The operations are A, B.'],
    ['fragment F on Device { id }', undefined, 'There is no operation.'],
    ['{ viewer {', undefined, 'The operation: Syntax Error'],
  ])('is an error otherwise: %s', (source, name, message) => {
    expect(() => operationOf(source, name)).toThrow(message);
  });
});

describe('variables', () => {
  const operation = operationOf(
    'query Q($id: ID!, $first: Int = 5, $on: Boolean, $tags: [String!], $filter: DeviceFilter, $order: DeviceOrder) ' +
      '{ device(id: $id) { id } }',
    undefined,
  );

  it('have the types of their declarations', () => {
    const fields = ['id=007', 'first=7', 'on=true', 'tags=["a"]', 'filter={"all":true}', 'order=ID_ASC'];
    expect(variablesOf(operation, fields)).toEqual({
      id: '007',
      first: 7,
      on: true,
      tags: ['a'],
      filter: { all: true },
      order: 'ID_ASC',
    });
  });

  it.each([
    [['first=7'], 'Set -F id=…'],
    [['id=1', 'first=many'], 'The variable "first" must be Int as JSON, not "many".'],
    [['id=1', 'tags=a'], 'The variable "tags" must be [String!] as JSON'],
    [['id=1', 'name=x'], 'The operation has no variable "name". Its variables are id: ID!, first: Int'],
    [['id'], '-F must be name=value, not "id".'],
  ])('are rejected otherwise: %j', (fields, message) => expect(() => variablesOf(operation, fields)).toThrow(message));
});
