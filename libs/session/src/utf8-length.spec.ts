import fc from 'fast-check';
import { expect, it } from 'vitest';
import { utf8BytesExceed } from './utf8-length.js';

it('counts as an encoder does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(160), (text, bytesMax) => {
      expect(utf8BytesExceed(text, bytesMax)).toBe(new TextEncoder().encode(text).length > bytesMax);
    }),
  );
});
