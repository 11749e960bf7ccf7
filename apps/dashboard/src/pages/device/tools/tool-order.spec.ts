import { describe, expect, it } from 'vitest';
import { toolsInOrder } from './tool-order';

const tools = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));
const order = (favourites: readonly string[], recent: readonly string[]) =>
  toolsInOrder(tools, new Set(favourites), recent)
    .map(({ name }) => name)
    .join('');

describe('the order of tools', () => {
  it('is that of the device without favourites and calls', () => expect(order([], [])).toBe('abcde'));

  it('begins with the latest called', () => expect(order([], ['d', 'b', 'd'])).toBe('dbace'));

  it('has favourites before these, in the order of the device', () => expect(order(['e', 'b'], ['d'])).toBe('bedac'));

  it('ignores names that the device does not have', () => expect(order(['x'], ['y', 'c'])).toBe('cabde'));
});
