import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileArguments } from './tool-arguments.js';

type Schema = Readonly<Record<string, unknown>>;

const text = fc.string({ unit: 'grapheme', maxLength: 6 });
const bounds = (value: fc.Arbitrary<number>) =>
  fc.record({ minimum: value, maximum: value, default: value, title: text }, { requiredKeys: [] });
const lengths = (least: string, most: string) =>
  fc.record({ [least]: fc.nat(4), [most]: fc.nat(6) }, { requiredKeys: [] });
const small = fc.integer({ min: -20, max: 20 });
const scalar = fc.oneof(fc.boolean(), small, text, fc.constant(null));

/** The part of JSON Schema that firmware uses. */
const { property } = fc.letrec<{ property: Schema; object: Schema }>((tie) => ({
  property: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    bounds(small).map((limits) => ({ type: 'integer', ...limits })),
    bounds(fc.double({ min: -20, max: 20, noNaN: true })).map((limits) => ({ type: 'number', ...limits })),
    lengths('minLength', 'maxLength').map((limits) => ({ type: 'string', ...limits })),
    fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
    fc.constantFrom<Schema[]>({ type: 'boolean' }, { type: 'null' }, { type: ['string', 'null'] }, {}),
    fc
      .tuple(lengths('minItems', 'maxItems'), tie('property'))
      .map(([limits, items]) => ({ type: 'array', ...limits, items })),
    tie('object'),
  ),
  object: fc
    .dictionary(fc.constantFrom('a', 'b', 'c'), tie('property'), { maxKeys: 3 })
    .chain((properties) =>
      fc.subarray(Object.keys(properties)).map((required) => ({ type: 'object', properties, required })),
    ),
}));

const args = fc.dictionary(fc.constantFrom('a', 'b', 'c'), property, { maxKeys: 3 });

/** Values that are often valid, and often only just invalid. */
function valueFor(schema: Schema): fc.Arbitrary<unknown> {
  const {
    type,
    enum: values,
    items,
    properties,
  } = schema as { type?: unknown; enum?: unknown[]; items?: Schema; properties?: Record<string, Schema> };
  const other = fc.oneof(
    scalar,
    fc.double({ min: -25, max: 25, noNaN: true }),
    fc.constantFrom<unknown[]>([], {}, ['x'], { a: 1 }),
  );
  if (values) return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, other);
  if (type === 'array')
    return fc.oneof({ weight: 5, arbitrary: fc.array(valueFor(items ?? {}), { maxLength: 7 }) }, other);
  if (type === 'object' && properties) return fc.oneof({ weight: 5, arbitrary: recordFor(properties) }, other);
  if (type === 'string')
    return fc.oneof({ weight: 5, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) }, other);
  if (type === 'integer' || type === 'number') return fc.oneof({ weight: 5, arbitrary: small }, other);
  return other;
}

function recordFor(properties: Readonly<Record<string, Schema>>): fc.Arbitrary<unknown> {
  return fc.record(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueFor(schema)])), {
    requiredKeys: [],
  });
}

describe('the normalisation of schemas', () => {
  it('accepts exactly what JSON Schema accepts if the schema is supported', { timeout: 60_000 }, () => {
    const verdicts = { accepted: 0, refused: 0 };
    const run = args.chain((properties) => {
      const schema = { type: 'object', properties, required: Object.keys(properties).slice(0, 1) };
      return fc.tuple(fc.constant(schema), recordFor(properties));
    });
    fc.assert(
      fc.property(run, ([schema, value]) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        const compiled = compileArguments(schema);
        expect(compiled.schemaKnown).toBe(true);
        const accepts = new Ajv({ strict: false }).compile(schema)(plain);
        verdicts[accepts ? 'accepted' : 'refused'] += 1;
        expect(compiled.check(plain).ok, JSON.stringify([schema, plain])).toBe(accepts);
      }),
      { numRuns: 400 },
    );
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(20);
  });
});
