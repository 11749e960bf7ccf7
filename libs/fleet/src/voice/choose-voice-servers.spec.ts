import { describe, expect, it } from 'vitest';
import { chooseVoiceServers } from './choose-voice-servers.js';
import { VoiceOrigins } from './voice-origins.js';

const origins = new VoiceOrigins({ own: ['wss://voice.example/xiaozhi/v1/'], listed: ['ws://10.0.0.5:8000'] });
const path = ['input', 'voiceUrl'];
const operator = { devices: undefined };
const admin = { devices: undefined, isAdmin: true };
const scoped = { devices: { tags: ['lab'] }, isAdmin: true };

const choose = (text: string | null, actor: Parameters<typeof chooseVoiceServers>[1], before: readonly string[] = []) =>
  chooseVoiceServers({ text, before, path }, actor, origins);

describe('the choice of a voice server', () => {
  it('is free among the listed ones and the fleet’s own', () => {
    for (const url of ['ws://10.0.0.5:8000/any/path', 'wss://voice.example/other'])
      expect(choose(url, operator)).toEqual({ voiceUrls: [url] });
  });

  it.each(['wss://tap.example/', 'ws://voice.example/', 'ws://10.0.0.5/', 'wss://voice.example:444/'])(
    'needs ADMIN for %s, which is another origin',
    (url) => {
      expect(choose(`wss://voice.example/, ${url}`, operator)).toMatchObject({
        refusal: { code: 'URL_FORBIDDEN', path, message: expect.stringContaining('needs the scope ADMIN') as unknown },
      });
      expect(choose(url, admin)).toEqual({ voiceUrls: [url] });
    },
  );

  it('can be reduced, reordered, removed or sent back unchanged by an operator', () => {
    const before = ['wss://a.example/', 'wss://b.example/'];
    expect(choose('wss://b.example/,wss://a.example/', operator, before)).toEqual({
      voiceUrls: ['wss://b.example/', 'wss://a.example/'],
    });
    expect(choose('wss://b.example/', operator, before)).toEqual({ voiceUrls: ['wss://b.example/'] });
    expect(choose(null, operator, before)).toEqual({ voiceUrls: [] });
    expect(choose('wss://a.example/, wss://b.example/', operator, before)).toEqual({ voiceUrls: before });
  });

  it('is not for a scoped key, neither setting nor clearing, with any scopes', () => {
    expect(() => choose('wss://voice.example/', scoped)).toThrow('limited to some devices');
    expect(() => choose(null, scoped, ['wss://voice.example/'])).toThrow('limited to some devices');
    expect(choose('wss://voice.example/', scoped, ['wss://voice.example/'])).toEqual({
      voiceUrls: ['wss://voice.example/'],
    });
  });

  it('is a list of WebSocket addresses', () => {
    expect(choose('https://voice.example/', admin)).toMatchObject({ refusal: { code: 'INVALID', path } });
  });
});
