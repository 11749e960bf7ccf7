import { expect, it } from 'vitest';
import { exactForm } from './exact-form';

const now = new Date(2026, 0, 2, 12);

it('is the time alone for today', () => {
  expect(exactForm(new Date(2026, 0, 2, 0, 1), now)).toBe('today');
});

it('has no year while a month and a day mean one day only, also over the turn of the year', () => {
  expect(exactForm(new Date(2026, 0, 1, 23, 59), now)).toBe('recent');
  expect(exactForm(new Date(2025, 11, 31), now)).toBe('recent');
  expect(exactForm(new Date(2026, 0, 9), now)).toBe('recent');
});

it('has the year of what is older', () => {
  expect(exactForm(new Date(2025, 0, 2, 12), now)).toBe('old');
  expect(exactForm(new Date(2024, 5, 1), now)).toBe('old');
});
