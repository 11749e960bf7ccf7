import { publicOnly } from '@flotilla/fleet';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../settings/config.js';
import { voiceServerAt } from './voice-server-at.js';

const urls = {
  own: 'ws://192.168.7.2:8000/xiaozhi/v1/',
  listed: 'wss://partner.example/any',
  other: 'wss://tap.example/',
};
const named = {
  FLOTILLA_VOICE_URL: urls.own,
  FLOTILLA_VOICE_URLS: 'wss://partner.example',
  FLOTILLA_VOICE_USER_TOOLS: 'on',
};
const serverAt = (url: string, env: Readonly<Record<string, string>>) =>
  voiceServerAt(url, readConfig({ ...named, ...env }).voice);

describe('a voice server', () => {
  it('of the fleet gets everything, and may be anywhere', () => {
    const credential = { kind: 'token', token: 'fixed' };
    expect(serverAt(urls.own, { FLOTILLA_VOICE_TOKEN: 'fixed' })).toEqual({
      url: urls.own,
      credential,
      isListed: true,
      mayCallUserOnly: true,
      guard: undefined,
    });
    expect(serverAt(urls.own, { FLOTILLA_VOICE_USER_TOOLS: 'off' })).toMatchObject({ mayCallUserOnly: false });
  });

  it('that is listed gets the signature and not the token, and never user-only tools', () => {
    const server = { url: urls.listed, isListed: true, mayCallUserOnly: false, guard: undefined };
    const credential = { kind: 'signing_key', key: 'secret' };
    expect(serverAt(urls.listed, { FLOTILLA_VOICE_SIGNING_KEY: 'secret' })).toEqual({ ...server, credential });
    expect(serverAt(urls.listed, { FLOTILLA_VOICE_TOKEN: 'fixed' })).toEqual({ ...server, credential: undefined });
  });

  it.each([urls.other, 'wss://partner.example:8443/any', 'ws://partner.example/any', 'ws://192.168.7.2/'])(
    'at %s, which no setting names, gets nothing, and has to be public',
    (url) => {
      for (const env of [{ FLOTILLA_VOICE_SIGNING_KEY: 'secret' }, { FLOTILLA_VOICE_TOKEN: 'fixed' }])
        expect(serverAt(url, env)).toEqual({
          url,
          credential: undefined,
          isListed: false,
          mayCallUserOnly: false,
          guard: publicOnly,
        });
    },
  );
});
