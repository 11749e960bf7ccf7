import { describe, expect, it } from 'vitest';
import { titleOf } from './slug.js';

describe('the name of a value', () => {
  it('is read from its path', () => {
    expect(titleOf('audio_speaker.volume')).toBe('Audio speaker volume');
    expect(titleOf('..')).toBe('Value');
  });

  it('is cut to valid text, also within a letter of two UTF-16 units', () => {
    const name = titleOf(`x${'𠀀'.repeat(60)}`);
    expect(name).toHaveLength(100);
    expect(name).not.toMatch(/\p{Surrogate}/u);
  });
});
