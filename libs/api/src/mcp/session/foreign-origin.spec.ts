import { describe, expect, it } from 'vitest';
import { isForeignOrigin } from './foreign-origin.js';

describe('the origins of pages', () => {
  it.each([undefined, 'http://localhost:6274', 'https://127.0.0.1', 'http://[::1]:3000', 'https://hub.example'])(
    'lets %s in',
    (origin) => {
      expect(isForeignOrigin(origin, 'https://hub.example/')).toBe(false);
    },
  );

  it.each([
    'https://evil.example',
    'http://hub.example',
    'https://hub.example:444',
    'https://localhost.evil.example',
    'null',
    '',
    'file://localhost',
  ])('keeps "%s" out', (origin) => {
    expect(isForeignOrigin(origin, 'https://hub.example')).toBe(true);
  });
});
