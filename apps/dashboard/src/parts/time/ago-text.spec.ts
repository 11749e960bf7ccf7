import { describe, expect, it } from 'vitest';
import { agoText } from './ago-text';

const hour = 3_600_000;

describe('the words for the time since a moment', () => {
  it.each([
    [0, 'now', '现在'],
    [-30 * hour, '1 day ago', '1天前'],
    [30 * hour, 'in 1 day', '1天后'],
    [-48 * hour, '2 days ago', '2天前'],
  ])('name no day of the calendar after %d ms', (ms, english, chinese) => {
    expect([agoText(ms, 'en'), agoText(ms, 'zh')]).toEqual([english, chinese]);
  });
});
