import { describe, expect, it } from 'vitest';
import { looksLikeMarkdown } from './looks-like-markdown';

describe('a text', () => {
  it.each([
    '# Changes',
    'News:\n- faster\n- smaller',
    '1. Restart',
    'Call `reboot` first',
    'It is **hot**',
    'See [x](https://a.b)',
  ])('that is written as Markdown is found: %j', (text) => expect(looksLikeMarkdown(text)).toBe(true));

  it.each([
    '',
    'true',
    'Sets the volume.\nArgs:\n  volume: 0 to 100',
    'a_b_c * 3',
    '2026-01-01 12:00 - started',
    'C# code',
  ])('of plain lines stays as it is: %j', (text) => expect(looksLikeMarkdown(text)).toBe(false));
});
