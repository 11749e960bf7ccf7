import { expect, it } from 'vitest';
import { matchesType, selectsEvents } from './type-patterns.js';

it.each([
  ['device.samples', ['device.samples'], true],
  ['device.samples', ['device.*'], true],
  ['device.samples', ['*'], true],
  ['device_group.made', ['device.*'], false],
  ['device.samples', ['device'], false],
  ['device.samples', [], false],
] as const)('%s is of %j: %s', (type, patterns, isMatch) => {
  expect(matchesType(type, patterns)).toBe(isMatch);
});

it.each([
  ['device.samples', true],
  ['device.*', true],
  ['*', true],
  ['device.sample', false],
  ['device', false],
  ['gadget.*', false],
  ['.*', false],
  ['', false],
] as const)('%s selects events of the hub: %s', (pattern, isKnown) => {
  expect(selectsEvents(pattern)).toBe(isKnown);
});
