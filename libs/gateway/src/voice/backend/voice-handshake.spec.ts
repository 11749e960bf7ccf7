import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { handshakeHeaders, signVoiceToken } from './voice-handshake.js';

const device = {
  deviceId: '02:5e:7a:10:c4:9f' as DeviceId,
  clientId: '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21',
  remoteAddress: '192.168.7.31',
  version: 1,
} as const;
const at = 1_786_000_000_999;
const signing = { kind: 'signing_key', key: 'ws-shared-secret' } as const;
const signed = 'AU04tx_frgX2AfFEjsNCPdT8LmnYZiiXzqNYmpKgVaU.1786000000';

describe('the handshake with a voice server', () => {
  it('signs one token over the header texts as xiaozhi-esp32-server checks it', () => {
    expect(signVoiceToken('ws-shared-secret', { ...device, seconds: 1_786_000_000 })).toBe(signed);
    expect(handshakeHeaders({ credential: signing, isListed: true }, device, at)).toEqual({
      'Device-Id': '02:5e:7a:10:c4:9f',
      'Client-Id': '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21',
      'Protocol-Version': '1',
      'X-Real-IP': '192.168.7.31',
      Authorization: `Bearer ${signed}`,
    });
  });

  it('signs the text of the header, not the original id', () => {
    const odd = { ...device, deviceId: '客厅 1' as DeviceId, clientId: undefined };
    const headers = handshakeHeaders({ credential: signing, isListed: true }, odd, at);
    const text = '%E5%AE%A2%E5%8E%85%201';
    expect(headers).toMatchObject({ 'Device-Id': text, 'Client-Id': text });
    expect(headers['Authorization']).toBe(
      `Bearer ${signVoiceToken(signing.key, { clientId: text, deviceId: text, seconds: 1_786_000_000 })}`,
    );
  });

  it('sends a server that is not listed the Device-Id and no more', () => {
    expect(handshakeHeaders({ credential: undefined, isListed: false }, device, at)).toEqual({
      'Device-Id': '02:5e:7a:10:c4:9f',
      'Protocol-Version': '1',
    });
  });

  it('omits an address that is not an IP address', () => {
    for (const remoteAddress of [undefined, '', 'unknown', '10.0.0.1, 10.0.0.2'])
      expect(
        handshakeHeaders({ credential: undefined, isListed: true }, { ...device, remoteAddress }, at),
      ).not.toHaveProperty('X-Real-IP');
  });

  it('sends a token with a scheme unchanged', () => {
    const headers = handshakeHeaders(
      { credential: { kind: 'token', token: 'Token two-words' }, isListed: true },
      device,
      at,
    );
    expect(headers['Authorization']).toBe('Token two-words');
  });
});
