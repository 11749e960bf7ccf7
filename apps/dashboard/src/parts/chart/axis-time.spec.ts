import { describe, expect, it } from 'vitest';
import { axisTime } from './axis-time';

const at = (...[hours, minutes, seconds]: readonly [number, number, number]) =>
  new Date(2026, 10, 28, hours, minutes, seconds).getTime();

describe('a label of the time axis', () => {
  it.each([
    ['a midnight', at(0, 0, 0), 'en', 'Nov 28'],
    ['a midnight in Chinese', at(0, 0, 0), 'zh', '11月28日'],
    ['a minute', at(14, 5, 0), 'en', '14:05'],
    ['a second', at(14, 5, 30), 'en', '14:05:30'],
    ['a second after midnight', at(0, 0, 30), 'en', '00:00:30'],
  ])('for %s', (_what, moment, language, text) => {
    expect(axisTime(moment, language)).toBe(text);
  });
});
