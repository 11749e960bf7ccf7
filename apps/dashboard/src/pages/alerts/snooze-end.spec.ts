import { expect, it } from 'vitest';
import { snoozeEnd } from './snooze-end';

const now = Date.parse('2026-03-04T12:00:00Z');

it('is in two hours for a rule that is not snoozed', () => {
  expect(snoozeEnd(false, now)).toBe('2026-03-04T14:00:00.000Z');
});

it('is past for a rule that is snoozed, however far ahead the clock of the viewer is', () => {
  expect(snoozeEnd(true, now)).toBe('1970-01-01T00:00:00.000Z');
});
