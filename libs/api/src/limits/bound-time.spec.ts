import { buildSchema, graphql } from 'graphql';
import { describe, expect, it } from 'vitest';
import { boundTime } from './bound-time.js';

const never = new Promise<string>(() => undefined);

function schemaWith(operationMsMax: number) {
  const schema = buildSchema(
    'type Query { quick: String slow: String } type Mutation { act: Payload } type Payload { result: String }',
  );
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
  const resolvers = {
    quick: async () => 'here',
    slow: () => never,
    act: () => new Promise((done) => setTimeout(done, 50, { result: 'done' })),
  };
  for (const [name, resolve] of Object.entries(resolvers)) if (fields[name]) fields[name].resolve = resolve;
  return boundTime(schema, operationMsMax);
}

const run = (source: string) =>
  graphql({ schema: schemaWith(20), source, contextValue: { startedAt: performance.now() } });

describe('a query', () => {
  it('reports the fields that took too long, and returns the rest', async () => {
    const { data, errors } = await run('{ quick slow }');
    expect(data).toEqual({ quick: 'here', slow: null });
    expect(errors).toMatchObject([
      { path: ['slow'], extensions: { code: 'UNAVAILABLE' }, message: expect.stringContaining('longer than 0.02 s') },
    ]);
  });
});

describe('a mutation', () => {
  it('may take longer', async () => {
    expect(await run('mutation { act { result } }')).toEqual({ data: { act: { result: 'done' } } });
  });
});
