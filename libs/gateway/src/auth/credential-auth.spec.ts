import type { DeviceId } from '@flotilla/mcp';
import type { CredentialVerdict, NewEvent } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { CredentialAuth } from './credential-auth.js';
import type { MqttCredentials } from './device-auth.js';
import { OpenAuth } from './device-auth.js';
import { EventLog } from '../sessions/event-log.js';
import { FleetOrOwnAuth } from './fleet-or-own-auth.js';
import { FleetSecretAuth } from './fleet-secret-auth.js';

const lampId = '02:5e:7a:10:c4:9f' as DeviceId;
const clientId = 'GID_lab@@@02_5e_7a_10_c4_9f@@@3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21';
const login: MqttCredentials = {
  clientId,
  username: lampId,
  password: Buffer.from('secret'),
  remoteAddress: '192.0.2.4',
};

function auth(verdict: CredentialVerdict | Error, isReleased?: () => Promise<boolean>) {
  const time = { now: 1 };
  const written: NewEvent[] = [];
  const answer = () => (verdict instanceof Error ? Promise.reject(verdict) : Promise.resolve(verdict));
  const events = new EventLog({
    clock: { now: () => time.now },
    events: {
      append: (event) => {
        written.push(event);
        return { ...event, id: '1' };
      },
    },
    feed: { publish: () => undefined },
  });
  const own = new CredentialAuth({
    credentials: { checkMqtt: answer, checkWebSocket: answer, checkToken: answer },
    events,
    isReleased,
    clock: { now: () => time.now },
  });
  return { own, time, written };
}

describe('CredentialAuth', () => {
  it.each([
    ['was moved back', () => Promise.resolve(true), /former server/],
    ['was not moved', () => Promise.resolve(false), /rotateDeviceCredential/],
    ['may have been moved back', () => Promise.reject(new Error('PostgreSQL is away')), /rotateDeviceCredential/],
  ])('reports a refused device that %s', async (_name, isReleased, advice) => {
    const { own, written } = auth({ kind: 'refused', deviceId: lampId }, isReleased);
    expect(await own.checkMqtt(login)).toMatchObject({ kind: 'refused', reason: 'credentials_wrong' });
    expect(written).toMatchObject([{ type: 'device.auth_refused', data: { advice: expect.stringMatching(advice) } }]);
  });

  it('grants the device that the credentials were issued to', async () => {
    expect(await auth({ kind: 'granted', deviceId: lampId }).own.checkMqtt(login)).toEqual({
      kind: 'granted',
      deviceId: lampId,
    });
  });

  it('does not check missing credentials', async () => {
    const { own } = auth(new Error('asked'));
    expect(await own.checkMqtt({ ...login, password: undefined })).toMatchObject({
      kind: 'refused',
      reason: 'credentials_missing',
    });
    expect(
      await own.checkWebSocket({ clientId: 'x', deviceId: lampId, token: undefined, remoteAddress: undefined }),
    ).toMatchObject({
      reason: 'credentials_missing',
    });
  });

  it('says once a minute that a known device was refused, and what to do, but no secret', async () => {
    const { own, time, written } = auth({ kind: 'refused', deviceId: lampId });
    for (const now of [1, 10_000, 60_001, 60_002]) {
      time.now = now;
      expect(await own.checkMqtt(login)).toMatchObject({ kind: 'refused', reason: 'credentials_wrong' });
    }
    expect(written.map(({ type, deviceId, at }) => [type, deviceId, at])).toEqual([
      ['device.auth_refused', lampId, 1],
      ['device.auth_refused', lampId, 60_002],
    ]);
    expect(written[0]?.data['advice']).toContain('rotateDeviceCredential');
    expect(JSON.stringify(written)).not.toContain('3b0c5b1e');
  });

  it('says it again a minute after the clock was set back', async () => {
    const { own, time, written } = auth({ kind: 'refused', deviceId: lampId });
    for (const now of [3_600_000, 1, 60_002]) {
      time.now = now;
      await own.checkMqtt(login);
    }
    expect(written.map(({ at }) => at)).toEqual([3_600_000, 1, 60_002]);
  });

  it('writes an event where the connection bound its Client-Id to a registered device', async () => {
    const { own, written } = auth({ kind: 'granted', deviceId: lampId, hasBound: true });
    const handshake = { clientId: '3b0c5b1e', deviceId: lampId, token: 'token', remoteAddress: '192.0.2.4' };
    expect(await own.checkWebSocket(handshake)).toEqual({ kind: 'granted', deviceId: lampId });
    const data = { by: 'token', remoteAddress: '192.0.2.4' };
    expect(written).toEqual([{ type: 'enrolment.approved', deviceId: lampId, at: 1, data }]);
  });

  it('writes no event for unknown devices', async () => {
    const { own, written } = auth({ kind: 'refused', deviceId: undefined });
    await own.checkMqtt(login);
    expect(written).toEqual([]);
  });

  it('rejects while the registry does not answer', async () => {
    await expect(auth(new Error('PostgreSQL is away')).own.checkMqtt(login)).rejects.toThrow('PostgreSQL is away');
  });
});

describe('FleetOrOwnAuth', () => {
  const fleet = new FleetSecretAuth({ secret: 'Hub-Signing-Key-01', clock: { now: () => 0 } });
  const fleetLogin: MqttCredentials = {
    ...login,
    username: 'eyJpcCI6IjE5Mi4wLjIuNDQifQ==',
    password: Buffer.from('cRoD84Ahoo4Yhs5g8896WnwsCSy3eIoPJg7Us/40gKQ='),
  };
  const refusing = auth({ kind: 'refused', deviceId: undefined }).own;

  it('takes the fleet’s secret from devices that were not removed', async () => {
    const letIn = (isRemoved: boolean) =>
      new FleetOrOwnAuth({
        fleet,
        own: refusing,
        enrolments: { isDenied: (id) => Promise.resolve(isRemoved && id === lampId) },
      });
    expect((await letIn(false).checkMqtt(fleetLogin)).kind).toBe('granted');
    expect((await letIn(true).checkMqtt(fleetLogin)).kind).toBe('refused');
  });

  it('takes a device’s own credentials as well', async () => {
    const both = new FleetOrOwnAuth({
      fleet,
      own: new OpenAuth(),
      enrolments: { isDenied: () => Promise.resolve(false) },
    });
    expect((await both.checkMqtt(login)).kind).toBe('granted');
  });

  it('says what was wrong with a token of the fleet', async () => {
    const own = auth({ kind: 'refused', deviceId: undefined }).own;
    const both = new FleetOrOwnAuth({ fleet, own, enrolments: { isDenied: () => Promise.resolve(false) } });
    const wrong = await both.checkWebSocket({
      clientId: 'x',
      deviceId: lampId,
      token: 'no.form',
      remoteAddress: undefined,
    });
    expect(wrong).toMatchObject({ kind: 'refused', message: expect.stringContaining('unix seconds') });
  });
});
