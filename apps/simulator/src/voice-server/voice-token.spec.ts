import { describe, expect, it } from 'vitest';
import { isSignedBy } from './voice-token.js';

const seconds = 1_786_000_000;
const headers = {
  'client-id': '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21',
  'device-id': '02:5e:7a:10:c4:9f',
  authorization: 'Bearer AU04tx_frgX2AfFEjsNCPdT8LmnYZiiXzqNYmpKgVaU.1786000000',
};
const isValid = (change: Readonly<Record<string, string>> = {}, { key = 'ws-shared-secret', later = 0 } = {}) =>
  isSignedBy(key, { ...headers, ...change }, (seconds + later) * 1_000);

describe('a signed token', () => {
  it('is valid for its device and for 30 days', () => {
    expect(isValid()).toBe(true);
    expect(isValid({}, { later: 30 * 86_400 })).toBe(true);
    expect(isValid({}, { later: 30 * 86_400 + 1 })).toBe(false);
    expect(isValid({}, { later: -3_600 })).toBe(false);
  });

  it('is not valid with another key or for another device', () => {
    expect(isValid({}, { key: 'another' })).toBe(false);
    for (const change of [
      { 'client-id': 'x' },
      { 'device-id': '02:5e:7a:10:c4:a0' },
      { 'device-id': '02:5E:7A:10:C4:9F' },
    ])
      expect(isValid(change)).toBe(false);
    // The last has as many characters as the right one, and more bytes.
    const umlaut = headers.authorization.replace('A', 'ä');
    for (const authorization of ['', 'Bearer', 'Bearer a.b', `${headers.authorization.slice(0, -1)}1`, umlaut])
      expect(isValid({ authorization })).toBe(false);
  });
});
