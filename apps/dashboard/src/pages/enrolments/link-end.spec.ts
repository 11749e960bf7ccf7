import { expect, it } from 'vitest';
import { endOf } from './link-end';

const link = { expiresAt: '2026-01-02T00:00:00Z', usedCount: 1, maxDevices: 2 };
const before = Date.parse('2026-01-01T00:00:00Z');

it('says whether a link has expired or is used up', () => {
  expect(endOf(link, before)).toBeUndefined();
  expect(endOf({ ...link, usedCount: 2 }, before)).toBe('full');
  expect(endOf(link, Date.parse(link.expiresAt))).toBe('expired');
});
