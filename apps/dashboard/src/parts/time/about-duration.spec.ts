import { describe, expect, it } from 'vitest';
import { aboutDuration } from './about-duration';

describe('the duration of a job', () => {
  it.each([
    [1, '1 second'],
    [119, '119 seconds'],
    [120, '2 minutes'],
    [7_199, '120 minutes'],
    [7_200, '2 hours'],
    [90_000, '25 hours'],
  ])('of %i s is %s', (seconds, text) => {
    expect(aboutDuration(seconds, 'en')).toBe(text);
  });

  it('is in the language of the console', () => {
    expect(aboutDuration(7_200, 'zh')).toBe('2小时');
  });
});
