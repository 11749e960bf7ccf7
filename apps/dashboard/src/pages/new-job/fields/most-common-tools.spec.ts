import { describe, expect, it } from 'vitest';
import { mostCommon, type ToolChoice } from './most-common-tools';

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

  it('are sorted by name', () => {
    expect(mostCommon([tool('b', 1, ''), tool('a', 9, '')]).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(mostCommon([])).toEqual([]);
  });
});
