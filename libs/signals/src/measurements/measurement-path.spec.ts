import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPath, numberOf, numbersIn, parsePattern, samplePath } from './measurement-path.js';

const matches = (pattern: string, path: string) => {
  const parsed = parsePattern(pattern);
  return !('problem' in parsed) && matchesPath(parsed, path);
};

describe('a path of measurements', () => {
  it.each([
    ['self.get_device_status:battery.level', 'self.get_device_status:battery.level', true],
    ['self.get_device_status:*.level', 'self.get_device_status:battery.level', true],
    ['self.get_device_status:*', 'self.get_device_status:battery.level', false],
    ['self.get_device_status:battery', 'self.get_device_status:battery.level', false],
    ['samples:*', 'samples:soil', true],
    ['samples:*', 'other:soil', false],
  ])('%s for %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it.each(['', 'battery.level', 'a:b:c', 'a:', 'a:b..c', 'a:b*', 'a: b', `a:${'x'.repeat(200)}`])(
    'is refused with a reason: %s',
    (text) => {
      expect(parsePattern(text)).toEqual({ problem: expect.stringMatching(/\.$/) });
    },
  );

  const step = fc.stringMatching(/^[a-z_]{1,8}$/);
  const state = fc.letrec((tie) => ({
    node: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.boolean(), fc.dictionary(step, tie('node'), { maxKeys: 4 })),
  })).node;

  it('found in a state leads back to its number', () => {
    fc.assert(
      fc.property(fc.dictionary(step, state, { maxKeys: 5 }), (value) => {
        for (const { path, value: number } of numbersIn('tool', value)) {
          const steps = path.slice('tool:'.length).split('.');
          const member = steps.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], value);
          expect(number).toBe(Number(member));
          expect(matches(path, path)).toBe(true);
        }
      }),
    );
  });
});

describe('a number in a report', () => {
  it.each([
    ['a:b', 41.5, 41.5],
    ['a:b', true, 1],
    ['a:b', 'strong', undefined],
    ['a:network.signal', 'strong', 3],
    ['a:network.signal', 'medium', 2],
    ['a:network.signal', 'weak', 1],
    ['a:network.signal', 'very weak', undefined],
    ['a:network.signal', 'constructor', undefined],
    ['a:network.signal', '__proto__', undefined],
    ['a:minimum_free_heap_size', '7340032', 7_340_032],
    ['a:b', '7340032', undefined],
    ['a:b', null, undefined],
    ['a:b', Number.NaN, undefined],
    ['a:b', 1e300, undefined],
    ['a:b', 1e-300, 0],
  ])('%s: %s is %s', (path, value, expected) => {
    expect(numberOf(path, value)).toBe(expected);
  });

  it('of a state that is nested too deeply or too wide is left out', () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`n${index}`, index]));
    expect(numbersIn('tool', wide)).toHaveLength(200);
    expect(numbersIn('tool', { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } })).toEqual([]);
    expect(numbersIn('tool', [1, 2])).toEqual([]);
  });

  it('has a path without separators in the names of samples', () => {
    expect(samplePath('soil moisture.1')).toBe('samples:soil_moisture_1');
    // PostgreSQL replaces half of a character, and the path would never be found again.
    expect(samplePath(`${'x'.repeat(191)}😀`)).toBe(`samples:${'x'.repeat(191)}\uFFFD`);
  });
});
