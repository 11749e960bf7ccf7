import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileArguments } from './tool-arguments.js';
import type { JsonSchema } from './tool.js';

const volume = compileArguments({
  type: 'object',
  properties: { volume: { type: 'integer', minimum: 0, maximum: 100 } },
  required: ['volume'],
});
const verdict = (property: object, value: unknown) =>
  compileArguments({ type: 'object', properties: { x: property } }).check({ x: value });

describe('compileArguments', () => {
  it('accepts what the schema allows', () => {
    expect(volume.schemaKnown).toBe(true);
    expect(volume.check({ volume: 0 })).toEqual({ ok: true });
    expect(volume.check({ volume: 100 })).toEqual({ ok: true });
  });

  it.each([
    [{ volume: 101 }, 'volume', '100'],
    [{ volume: 50.9 }, 'volume', 'int'],
    [{ volume: '50' }, 'volume', 'number'],
    [{}, 'volume', 'required'],
    [{ volume: 5, loud: true }, 'loud', 'not an argument'],
    [{ Volume: 5 }, 'Volume', '"volume"'],
    [{ volume: 5, VOLUME: 5 }, 'VOLUME', 'case'],
    [{ volume: NaN }, 'volume', 'finite'],
  ])('rejects %j and names the argument and the rule', (args, path, rule) => {
    const result = volume.check(args);
    expect(result).toMatchObject({ ok: false, path });
    expect(result).toHaveProperty('message', expect.stringContaining(path));
    expect(result).toHaveProperty('message', expect.stringContaining(rule));
  });

  it('lists the valid names after an unknown one', () => {
    const messageOf = (schema: JsonSchema, args: object) => compileArguments(schema).check(args);
    expect(volume.check({ loud: true })).toMatchObject({
      message: 'Argument "loud" is not an argument of this tool. Valid arguments: "volume".',
    });
    expect(messageOf({ type: 'object', properties: {} }, { x: 1 })).toMatchObject({
      message: 'Argument "x" is not an argument of this tool. The tool takes no arguments.',
    });
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${'n'.repeat(100)}${at}`, {}]));
    const verdictOfMany = messageOf({ type: 'object', properties: many }, { x: 1 });
    expect(verdictOfMany).toHaveProperty('message', expect.stringMatching(/…" and 10 others\.$/));
  });

  it.each<[object, unknown, string]>([
    [{ type: 'integer', maximum: 100 }, 101, 'must be at most 100'],
    [{ type: 'integer', minimum: 1 }, 0, 'must be at least 1'],
    [{ type: 'number', exclusiveMaximum: 1 }, 1, 'must be less than 1'],
    [{ type: 'number', exclusiveMinimum: 0 }, 0, 'must be more than 0'],
    [{ type: 'number', multipleOf: 5 }, 7, 'must be a multiple of 5'],
    [{ type: 'integer' }, 1.5, 'must be an integer'],
    [{ type: 'string' }, 1, 'must be a text'],
    [{ type: 'boolean' }, 'yes', 'must be true or false'],
    [{ type: 'object', properties: {} }, 1, 'must be an object'],
    [{ type: 'array' }, 1, 'must be a list'],
    [{ type: 'string', minLength: 1 }, '', 'must have at least 1 character'],
    [{ type: 'array', maxItems: 2 }, [1, 2, 3], 'must have at most 2 entries'],
    [{ enum: ['light', 'dark'] }, 'dim', 'must be one of these values: "light", "dark"'],
    [{ const: 'light' }, 'dim', 'must be "light"'],
    [{ anyOf: [{ type: 'boolean' }, { type: 'integer' }] }, 'x', 'has none of the forms that the tool accepts'],
  ])('says in its own words what %j asks for', (property, value, rule) => {
    expect(verdict(property, value)).toEqual({ ok: false, path: 'x', message: `Argument "x" ${rule}.` });
  });

  it.each([null, undefined, [], 'x', 5, new Map(), new Date(0)])('rejects %j as arguments', (args) => {
    expect(volume.check(args).ok).toBe(false);
  });

  it('keeps integers within 32 bits if the schema has no bounds, or wider ones', () => {
    for (const property of [{ type: 'integer' }, { type: 'integer', minimum: -1e15, maximum: 1e15 }]) {
      expect(verdict(property, 2 ** 31 - 1).ok).toBe(true);
      expect(verdict(property, 2 ** 31).ok).toBe(false);
      expect(verdict(property, -(2 ** 31)).ok).toBe(true);
      expect(verdict(property, -(2 ** 31) - 1).ok).toBe(false);
    }
  });

  it('does not require an argument with a default, and does not fill it in', () => {
    const { check } = compileArguments({ type: 'object', properties: { quality: { type: 'integer', default: 80 } } });
    const args = {};
    expect(check(args)).toEqual({ ok: true });
    expect(args).toEqual({});
  });

  it('rejects NUL and unpaired surrogates in any string and name, at any depth', () => {
    for (const value of ['a\0b', ['a\0b'], { 'k\0': 1 }, { k: { l: 'a\0' } }, '\ud800'])
      expect(verdict({}, value).ok).toBe(false);
    expect(verdict({}, 'tief 😀').ok).toBe(true);
  });

  it('reports the position of an error in nested arguments', () => {
    const schema = {
      type: 'object',
      properties: { steps: { type: 'array', items: { type: 'object', properties: { ms: { type: 'integer' } } } } },
    };
    expect(compileArguments(schema).check({ steps: [{ ms: 1 }, { ms: 'x' }] })).toMatchObject({
      ok: false,
      path: 'steps[1].ms',
    });
  });

  it('limits nesting and rejects values that are not JSON', () => {
    const deep = Array.from({ length: 20 }).reduce<unknown>((inner) => [inner], 1);
    for (const value of [deep, () => 1, 5n, undefined, Symbol('x'), new Map()])
      expect(verdict({}, value).ok).toBe(false);
  });

  it('supports enums, several types and alternatives', () => {
    expect(verdict({ enum: ['light', 'dark'] }, 'dim').ok).toBe(false);
    expect(verdict({ enum: ['light', 'dark'] }, 'dark').ok).toBe(true);
    expect(verdict({ type: ['string', 'null'] }, null).ok).toBe(true);
    expect(verdict({ type: ['string', 'null'] }, 1).ok).toBe(false);
    expect(verdict({ anyOf: [{ type: 'boolean' }, { type: 'integer' }] }, 'x')).toMatchObject({ ok: false, path: 'x' });
  });

  it('does not run a pattern of a device', () => {
    expect(verdict({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)).toEqual({ ok: true });
  });

  it.each([
    { type: 'string' },
    { type: 'object', properties: { x: { type: 'colour' } } },
    { type: 'object', properties: { x: null } },
    { type: 'object', properties: [] },
    { type: 'object', properties: { x: { $ref: 'https://example.com/schema' } } },
    { type: 'object', properties: { x: { type: 'integer', minimum: 'low' } } },
    { type: 'object', properties: { x: { enum: [] } } },
    { type: 'object', properties: { constructor: { type: 'string' } } },
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
    JSON.parse('{"type":"object","properties":{"x":{"type":"string","__proto__":1}}}'),
    { type: 'object', properties: { x: { type: 'string', constructor: 1 } } },
    { type: 'object', properties: { x: { type: ['string', ['string']] } } },
    { type: 'object', properties: {}, required: ['ghost'] },
    { type: 'object', properties: {}, if: { required: ['a'] } },
    { type: 'object', patternProperties: { '^x': {} } },
  ])('treats the hostile schema %j as unknown and still rejects unsafe values', (schema) => {
    const { schemaKnown, check } = compileArguments(schema);
    expect(schemaKnown).toBe(false);
    expect(check({ anything: [1, 'two'] })).toEqual({ ok: true });
    expect(check({ a: '\0' }).ok).toBe(false);
    expect(check('text').ok).toBe(false);
  });

  it('builds no validators for a listing of many tools with many arguments', { timeout: 5_000 }, () => {
    const names = Array.from({ length: 240 }, (_, at) => [`a${at}`, { type: 'integer' }]);
    const schema = { type: 'object', properties: Object.fromEntries(names) };
    for (let tools = 0; tools < 200; tools += 1) expect(compileArguments(schema).schemaKnown).toBe(true);
  });

  it('treats a schema with very many arguments as unknown', { timeout: 5_000 }, () => {
    const names = Array.from({ length: 10_000 }, (_, at) => [`a${at}`, { type: 'integer' }]);
    const { check, schemaKnown } = compileArguments({ type: 'object', properties: Object.fromEntries(names) });
    expect(schemaKnown).toBe(false);
    expect(check({ a1: 'x' })).toEqual({ ok: true });
  });

  it('rejects very many values of a tool that has very many forms for each', { timeout: 5_000 }, () => {
    const items = { enum: Array.from({ length: 900 }, (_, at) => at) };
    const { check } = compileArguments({ type: 'object', properties: { x: { type: 'array', items } } });
    expect(check({ x: Array<number>(100).fill(899) })).toEqual({ ok: true });
    expect(check({ x: Array<number>(8_000).fill(900) })).toEqual({
      ok: false,
      path: '',
      message: 'The arguments have too many values for this tool. Send fewer.',
    });
  });

  it('compiles a schema that repeats its types at every level at once', { timeout: 5_000 }, () => {
    const repeated = (properties: Readonly<Record<string, unknown>>) => ({
      type: Array<string>(60).fill('object'),
      properties,
    });
    const schema = { type: 'object', properties: { x: repeated({ x: repeated({ x: repeated({}) }) }) } };
    expect(compileArguments(schema).check({ x: { x: { x: 1 } } }).ok).toBe(false);
  });

  it('compiles a schema with thousands of unknown types and members at once', { timeout: 5_000 }, () => {
    const members = Array.from({ length: 3_000 }, (_, at) => [`m${at}`, at]);
    const property = { type: members.map(([name]) => name), ...Object.fromEntries(members) };
    expect(compileArguments({ type: 'object', properties: { x: property } }).schemaKnown).toBe(false);
  });

  it('compiles and checks any schema with any value without throwing', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'required',
      'items',
      'minimum',
      'enum',
      'anyOf',
      'const',
      'minLength',
      'x',
    );
    const type = fc.constantFrom('object', 'string', 'integer', 'array', 'null', 'boolean', 'number');
    const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
      schema: fc.dictionary(
        keyword,
        fc.oneof(
          { maxDepth: 3 },
          type,
          fc.jsonValue(),
          fc.array(type),
          tie('schema'),
          fc.dictionary(fc.string({ maxLength: 3 }), tie('schema')),
        ),
      ),
    }));
    fc.assert(
      fc.property(schema, fc.anything(), (hostile, args) => {
        const { check } = compileArguments(hostile);
        expect(check(args).ok).toBeTypeOf('boolean');
      }),
    );
  });

  it('never accepts a name that the schema does not declare', () => {
    fc.assert(
      fc.property(
        fc.string().filter((name) => name !== 'volume'),
        (name) => {
          expect(volume.check({ volume: 1, [name]: 1 }).ok).toBe(false);
        },
      ),
    );
  });
});
