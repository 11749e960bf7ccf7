import { describe, expect, it } from 'vitest';
import { refuseName, refuseTags } from './device-names.js';

const path = ['input', 'x'];

describe('names and tags of devices', () => {
  it('may be of any script, and null takes a name away', () => {
    expect(refuseName('Küche', path)).toBeUndefined();
    expect(refuseName(null, path)).toBeUndefined();
    expect(refuseTags(['site:berlin', 'v1.2', '厨房'], path)).toBeUndefined();
  });

  it.each(['', ' ', 'x'.repeat(101), 'two\nlines', 'bell\u0007'])('cannot be the name %j', (name) => {
    expect(refuseName(name, path)).toMatchObject({ code: 'INVALID', path });
  });

  it.each(['', 'two words', '-dash', 'x'.repeat(65), 'a\nb'])('cannot be the tag %j', (tag) => {
    expect(refuseTags(['good', tag], path)).toMatchObject({ code: 'INVALID', path });
  });

  it('are at most 50 tags, the same one counted once', () => {
    const tags = Array.from({ length: 51 }, (_, index) => `t${index}`);
    expect(refuseTags(tags, path)).toMatchObject({ code: 'LIMIT_EXCEEDED', path });
    expect(
      refuseTags(
        Array.from({ length: 51 }, () => 'same'),
        path,
      ),
    ).toBeUndefined();
  });
});
