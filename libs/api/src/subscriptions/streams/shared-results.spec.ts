import { readFileSync } from 'node:fs';
import { buildSchema, getNamedType, isLeafType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));

describe('SharedResults', () => {
  it('may give one answer to all who hear of an event: its fields lead to nothing that depends on who asks', () => {
    const type = schema.getType('Event');
    if (!isObjectType(type)) throw new TypeError('The schema has no type Event.');
    const leading = Object.values(type.getFields()).filter(
      (field) => !isLeafType(getNamedType(field.type)) || field.args.length > 0,
    );
    expect(leading.map(({ name }) => name)).toEqual([]);
  });
});
