import { readFileSync } from 'node:fs';
import { buildSchema, getIntrospectionQuery, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { defaultApiLimits } from './api-limits.js';
import { documentLimits } from './document-limits.js';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

function errorsOf(query: string): string[] {
  return validate(schema, parse(query), [...specifiedRules, documentLimits(defaultApiLimits)]).map(
    (error) => error.message,
  );
}

/** `levels` times from a device to its calls and back. */
function nested(levels: number): string {
  return levels === 0 ? 'id' : `calls { nodes { device { ${nested(levels - 1)} } } }`;
}

describe('the limits of a document', () => {
  it('allow the deepest useful query', () => {
    expect(
      errorsOf('{ jobs { nodes { targets { nodes { device { tools { policy { readback { tool } } } } } } } } }'),
    ).toEqual([]);
  });

  it('refuse deep nesting, also in fragments', () => {
    const query = `query { device(id: "d") { ...Deep } } fragment Deep on Device { ${nested(5)} }`;
    expect(errorsOf(query)).toEqual(['The query nests 17 levels of fields, at most 15 are allowed.']);
  });

  it('ignore recursive fragments, which another rule refuses', () => {
    const query = '{ device(id: "d") { ...A } } fragment A on Device { ...B } fragment B on Device { ...A }';
    expect(errorsOf(query)).toEqual([expect.stringContaining('Cannot spread fragment')]);
  });

  it('refuse a query with many aliases', () => {
    const viewers = Array.from({ length: 51 }, (_, index) => `v${index}: viewer { name }`).join(' ');
    expect(errorsOf(`{ ${viewers} }`)).toEqual(['The query uses more than 50 aliases.']);
  });

  it('refuse many directives', () => {
    const fields = Array.from({ length: 51 }, () => 'name @include(if: true)').join(' ');
    expect(errorsOf(`{ viewer { ${fields} } }`)).toEqual(['The query uses more than 50 directives.']);
  });

  it('refuse many mutations in one operation, also in fragments', () => {
    const query = (acts: number) =>
      `mutation { ${'...Act '.repeat(acts)} } fragment Act on Mutation { pauseJob(id: "j") { job { id } } }`;
    expect(errorsOf(query(50))).toEqual([]);
    expect(errorsOf(query(51))).toEqual(['The operation has 51 mutations, at most 50 are allowed in one.']);
  });

  it('refuse NUL in text', () => {
    expect(errorsOf('{ device(id: "a\\u0000") { id } }')).toEqual([expect.stringContaining('NUL')]);
  });

  it('allow introspection', () => {
    expect(errorsOf(getIntrospectionQuery())).toEqual([]);
  });
});
