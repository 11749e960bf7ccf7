import { expect, it } from 'vitest';
import { rulesWithoutChannel } from './rules-without-channel';

it('finds the rules that use only the channel, and not those that use none or another one, too', () => {
  const rules = [
    { name: 'only', channels: [{ id: 'a' }] },
    { name: 'both', channels: [{ id: 'a' }, { id: 'b' }] },
    { name: 'other', channels: [{ id: 'b' }] },
    { name: 'none', channels: [] },
  ];
  expect(rulesWithoutChannel(rules, 'a')).toEqual(['only']);
});
