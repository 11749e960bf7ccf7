import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FleetSecretAuth } from './fleet-secret-auth.js';

const clientId = 'GID_lab@@@02_5e_7a_10_c4_9f@@@3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21';
const username = 'eyJpcCI6IjE5Mi4wLjIuNDQifQ==';
const mqttPassword = 'cRoD84Ahoo4Yhs5g8896WnwsCSy3eIoPJg7Us/40gKQ=';
const issuedAt = 1_786_000_000;

function mqttAuth() {
  return new FleetSecretAuth({ secret: 'Hub-Signing-Key-01', clock: { now: () => 0 } });
}

function mqttWith(change: { clientId?: string; username?: string | undefined; password?: string | undefined }) {
  const { password, ...claim } = { clientId, username, password: mqttPassword, ...change };
  const bytes = password === undefined ? undefined : Buffer.from(password);
  return mqttAuth().checkMqtt({ ...claim, password: bytes, remoteAddress: undefined });
}

describe('FleetSecretAuth over MQTT', () => {
  it('grants the password of the documented example', () => {
    expect(mqttWith({})).toEqual({ kind: 'granted' });
  });

  it.each([
    ['another password of the same length', { password: mqttPassword.replace('c', 'd') }, 'credentials_wrong'],
    ['a password that only begins right', { password: mqttPassword.slice(0, -1) }, 'credentials_wrong'],
    ['the password of another user name', { username: 'e30=' }, 'credentials_wrong'],
    ['the password of another client id', { clientId: `${clientId}0` }, 'credentials_wrong'],
    ['no password', { password: undefined }, 'credentials_missing'],
    ['no user name', { username: undefined }, 'credentials_missing'],
    [
      'a two-part client id without credentials',
      { clientId: 'GID_lab@@@02_5e_7a_10_c4_9f', password: undefined },
      'credentials_missing',
    ],
  ])('refuses %s', (_case, change, reason) => {
    expect(mqttWith(change)).toMatchObject({ kind: 'refused', reason });
  });
});

const ids = { clientId: '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21', deviceId: '02:5e:7a:10:c4:9f' };
const token = `AU04tx_frgX2AfFEjsNCPdT8LmnYZiiXzqNYmpKgVaU.${issuedAt}`;

function webSocketWith(given: string | undefined, nowSeconds = issuedAt + 60, change: Partial<typeof ids> = {}) {
  const auth = new FleetSecretAuth({ secret: 'ws-shared-secret', clock: { now: () => nowSeconds * 1000 } });
  return auth.checkWebSocket({ ...ids, ...change, token: given, remoteAddress: undefined });
}

describe('FleetSecretAuth over WebSocket', () => {
  it('grants the token of the documented example', () => {
    expect(webSocketWith(token)).toEqual({ kind: 'granted' });
  });

  it('grants a token for 30 days and not longer', () => {
    const day = 24 * 60 * 60;
    expect(webSocketWith(token, issuedAt + 30 * day)).toEqual({ kind: 'granted' });
    expect(webSocketWith(token, issuedAt + 30 * day + 1)).toMatchObject({ reason: 'credentials_expired' });
  });

  it('refuses a token from the future, small differences of clocks apart', () => {
    expect(webSocketWith(token, issuedAt - 200)).toEqual({ kind: 'granted' });
    expect(webSocketWith(token, issuedAt - 400)).toMatchObject({ reason: 'credentials_wrong' });
  });

  it.each([
    ['no token', undefined, 'credentials_missing'],
    ['a text that is not a token', 'open sesame', 'credentials_wrong'],
    ['a token whose time was changed', token.replace('1786000000', '1786000001'), 'credentials_wrong'],
    [
      'a padded token',
      `${createHmac('sha256', 'ws-shared-secret')
        .update(`${ids.clientId}|${ids.deviceId}|${issuedAt}`)
        .digest('base64')}.${issuedAt}`,
      'credentials_wrong',
    ],
  ])('refuses %s', (_case, given, reason) => {
    expect(webSocketWith(given)).toMatchObject({ kind: 'refused', reason });
  });

  it('refuses the token of another device', () => {
    expect(webSocketWith(token, issuedAt, { deviceId: '02:5e:7a:10:c4:a0' })).toMatchObject({
      reason: 'credentials_wrong',
    });
  });
});
