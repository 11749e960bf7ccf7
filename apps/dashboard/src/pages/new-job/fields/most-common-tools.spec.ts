import { describe, expect, it } from 'vitest';
import { formKey, mostCommon, type ToolChoice } from './most-common-tools';

const tool = (name: string, deviceCount: number, description: string): ToolChoice =>
  ({ name, deviceCount, description }) as ToolChoice;

describe('the tools to choose from', () => {
  it('are one of each name, as most devices have it, with all devices counted', () => {
    const rare = tool('self.reboot', 3, 'rare');
    const common = tool('self.reboot', 40, 'common');
    for (const order of [
      [rare, common],
      [common, rare],
    ])
      expect(mostCommon(order)).toEqual([{ ...common, deviceCount: 43 }]);
  });

  it('have the schema of the largest part, not of one that is smaller than the others together', () => {
    const [first, second, most] = [tool('t', 3_000, 'a'), tool('t', 2_900, 'b'), tool('t', 4_100, 'c')];
    expect(mostCommon([first, second, most])).toEqual([{ ...most, deviceCount: 10_000 }]);
  });

  it('are sorted by name', () => {
    expect(mostCommon([tool('b', 1, ''), tool('a', 9, '')]).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(mostCommon([])).toEqual([]);
  });

  it('have a form that begins again with another schema, not with more devices or a new answer', () => {
    const withLabel = (type: string, deviceCount: number) => ({
      ...tool('t', deviceCount, ''),
      inputSchema: { properties: { label: { type } } },
      schemaKnown: true,
    });
    expect(formKey(withLabel('string', 9))).toBe(formKey(withLabel('string', 4)));
    expect(formKey(withLabel('number', 9))).not.toBe(formKey(withLabel('string', 9)));
    expect(formKey({ ...withLabel('string', 9), schemaKnown: false })).not.toBe(formKey(withLabel('string', 9)));
  });
});
