import { describe, expect, it } from 'vitest';
import { parseVoiceUrls, voiceUrlProblem } from './voice-urls.js';

describe('the addresses of voice servers', () => {
  it('are parsed one by one', () => {
    expect(parseVoiceUrls(' wss://a.example/x , ws://b.example:8000/ ')).toEqual([
      'wss://a.example/x',
      'ws://b.example:8000/',
    ]);
    for (const nothing of ['', ' , ', null, undefined]) expect(parseVoiceUrls(nothing)).toEqual([]);
  });

  it('are WebSocket addresses, few, and carry no secrets that every header would show', () => {
    expect(voiceUrlProblem('wss://a.example/x?y=1,ws://[::1]:8000/')).toBeUndefined();
    for (const wrong of [
      'https://a.example/',
      'a.example',
      'wss://user:secret@a.example/',
      'wss://a.example/#x',
      'ws://',
    ])
      expect(voiceUrlProblem(wrong)).toContain('ws:// or wss://');
    expect(voiceUrlProblem(Array(5).fill('ws://a.example/').join(','))).toContain('at most 4');
  });
});
