import { describe, expect, it } from 'vitest';
import { voiceUrlOf } from './voice-group.js';

describe('the voice server of imported boards', () => {
  it('has the addresses of the former server, separated as the hub wants them', () => {
    expect(voiceUrlOf('ws://a.example:8000/xiaozhi/v1/; wss://b.example/v1/')).toBe(
      'ws://a.example:8000/xiaozhi/v1/,wss://b.example/v1/',
    );
  });

  it.each(['old.example:8000', 'http://old.example/', 'null', ''])('is not %s', (written) => {
    expect(() => voiceUrlOf(written)).toThrow('--voice-url');
  });
});
