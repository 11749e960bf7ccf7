import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentToolNames, deviceIdIn, devicePartIn, devicePartOf, isUnusualId } from './agent-tool-names.js';

const nameOf = (device: string, tool: string, others: readonly string[] = []) =>
  agentToolNames(device, [tool, ...others]).get(tool) ?? '';

/** Ids and names as devices have them and as they should not. */
const id = fc.oneof(
  fc.stringMatching(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/),
  fc.stringMatching(/^[0-9a-f]{2}(_[0-9a-f]{2}){5}$/),
  fc.stringMatching(/^[ab_:.-]{1,6}$/),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 256 }),
);
const tool = fc.oneof(
  fc.stringMatching(/^self\.[a-z_]{1,6}\.[a-z_.]{1,60}$/),
  fc.stringMatching(/^[ab_.-]{1,6}$/),
  fc.stringMatching(/^[ab]_[0-9a-f]{10}$/),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
);
const tools = fc.uniqueArray(tool, { minLength: 1, maxLength: 12 });

describe('the names of tools for agents', () => {
  it.each([
    ['02:00:00:00:0a:01', 'self.lamp.turn_on', '02_00_00_00_0a_01__self_lamp_turn_on'],
    ['greenhouse-1', 'gpio_write', 'greenhouse-1__gpio_write'],
  ])('are readable where nothing is lost: %s %s', (device, name, expected) => {
    expect(nameOf(device, name)).toBe(expected);
  });

  it.each([
    ['a MAC and what looks like one', ['02:00:00:00:0a:01', 'on'], ['02_00_00_00_0a_01', 'on']],
    ['a device that ends where a tool begins', ['a__b', 'c'], ['a', 'b__c']],
    ['ids of other characters', ['küche', 'on'], ['k_che', 'on']],
    ['long names with one beginning', ['d', `${'x'.repeat(80)}1`], ['d', `${'x'.repeat(80)}2`]],
  ])('keep apart %s', (_, one, other) => {
    expect(nameOf(one[0] ?? '', one[1] ?? '')).not.toBe(nameOf(other[0] ?? '', other[1] ?? ''));
  });

  it('give both of two tools a hash if they would have the same name', () => {
    const [one, other] = [nameOf('d', 'turn.on', ['turn_on']), nameOf('d', 'turn_on', ['turn.on'])];
    expect(new Set([one, other, 'd__turn_on']).size).toBe(3);
  });

  it('are what agent hosts take, always the same, and lead back to their device', () => {
    fc.assert(
      fc.property(id, tools, (device, names) => {
        const first = agentToolNames(device, names);
        expect([...agentToolNames(device, [...names].reverse())].sort()).toEqual([...first].sort());
        for (const name of first.values()) {
          expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(devicePartIn(name)).toBe(devicePartOf(device));
          if (!isUnusualId(device)) expect(deviceIdIn(name)).toBe(device);
        }
      }),
    );
  });

  it('differ wherever device or tool differ', () => {
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 8 }), tools, (devices, names) => {
        const all = devices.flatMap((device) => [...agentToolNames(device, names).values()]);
        expect(new Set(all).size).toBe(all.length);
      }),
    );
  });
});
