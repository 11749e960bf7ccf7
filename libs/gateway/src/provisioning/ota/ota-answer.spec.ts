import type { DeviceId } from '@flotilla/mcp';
import type { KnownDevice } from '@flotilla/registry';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeviceAddresses } from '../device-addresses.js';
import { answerKnown, answerAnonymous, answerWaiting } from './ota-answer.js';
import type { OtaAnswer } from './ota-answer.js';
import { readOtaRequest } from './ota-request.js';
import { noUpdate } from './firmware-answer.js';

const addressSettings = {
  publicUrl: undefined,
  publicMqtt: undefined,
  isTls: false,
  fallbackHost: '127.0.0.1',
  httpPort: () => 8080,
  mqttPort: () => 1883,
};
const addresses = new DeviceAddresses(addressSettings);
const settings = { addresses, publishTopic: 'device-server', timeZone: 'Europe/Berlin' };
const answered = {
  now: Date.UTC(2026, 6, 1),
  reached: { localAddress: '192.0.2.4', host: undefined },
  firmware: noUpdate('2.4.2'),
};
const credential = {
  mqttClientId: 'GID_flotilla@@@02_5e_7a_10_c4_9f@@@kq3v',
  mqttUsername: 'dev',
  secret: 's'.repeat(43),
};
const known = (change: Partial<KnownDevice> = {}): KnownDevice => ({
  deviceId: '02:5e:7a:10:c4:9f' as DeviceId,
  dialect: 'XIAOZHI',
  clientUuidHash: 'ab',
  transport: 'MQTT',
  timeZone: undefined,
  credential,
  ...change,
});
const used = { ...credential, secret: undefined };
const pending = { code: '482913', challenge: 'c0ffee' };

describe('the answer to a known device', () => {
  it('has the address, the login, the time and no update', () => {
    expect(answerKnown(settings, known(), answered)).toEqual({
      server_time: { timestamp: answered.now, timezone_offset: 120 },
      firmware: { version: '2.4.2', url: '' },
      mqtt: {
        endpoint: '192.0.2.4:1883',
        client_id: credential.mqttClientId,
        username: 'dev',
        password: credential.secret,
        publish_topic: 'device-server',
        subscribe_topic: 'null',
        keepalive: 45,
      },
    });
  });

  it('omits the secret after its first use, and nothing else', () => {
    const before = answerKnown(settings, known(), answered).mqtt ?? {};
    const after = answerKnown(settings, known({ credential: used }), answered).mqtt ?? {};
    expect(Object.keys(before).filter((name) => !(name in after))).toEqual(['password']);
    const webSocket = answerKnown(settings, known({ transport: 'WEBSOCKET', credential: used }), answered).websocket;
    expect(webSocket).toEqual({ url: 'ws://192.0.2.4:8080/xiaozhi/v1/', version: 1 });
  });

  it('uses the device’s time zone before the hub’s', () => {
    expect(answerKnown(settings, known({ timeZone: 'Asia/Tokyo' }), answered).server_time.timezone_offset).toBe(540);
  });
});

describe('the answer to a device that waits for approval', () => {
  it('has a code and a challenge, and no credential', () => {
    const answer = answerWaiting(settings, pending, answered);
    expect(answer.activation).toMatchObject({ ...pending, timeout_ms: 30_000 });
    expect(answer.activation?.message).toContain('482913');
    expect(Object.keys(answer.mqtt ?? {})).toEqual(['endpoint', 'publish_topic', 'subscribe_topic', 'keepalive']);
  });
});

describe('the answers of a hub without MQTT', () => {
  const webSocketOnly = {
    ...settings,
    addresses: new DeviceAddresses({ ...addressSettings, mqttPort: () => undefined }),
  };
  const url = 'ws://192.0.2.4:8080/xiaozhi/v1/';

  it('send every device to the WebSocket, with its secret until its first use', () => {
    const answer = answerKnown(webSocketOnly, known(), answered);
    expect(answer.websocket).toEqual({ url, token: credential.secret, version: 1 });
    expect(answer).not.toHaveProperty('mqtt');
    expect(answerKnown(webSocketOnly, known({ credential: used }), answered).websocket).toEqual({ url, version: 1 });
  });

  it('have no credential for a device that waits, or one without ids', () => {
    for (const answer of [answerWaiting(webSocketOnly, pending, answered), answerAnonymous(webSocketOnly, answered)]) {
      expect(answer).not.toHaveProperty('mqtt');
      expect(answer.websocket).toEqual({ url, version: 1 });
    }
  });
});

/**
 * Types that flash stores by name: a member that changes its type may conflict with the stored one.
 */
const typeByName: Readonly<Record<string, 'string' | 'number'>> = {
  endpoint: 'string',
  client_id: 'string',
  username: 'string',
  password: 'string',
  publish_topic: 'string',
  subscribe_topic: 'string',
  keepalive: 'number',
  url: 'string',
  token: 'string',
  version: 'number',
};

function expectNoTrap(answer: OtaAnswer): void {
  const objects = [answer.mqtt, answer.websocket].filter((object) => object !== undefined);
  expect(objects).toHaveLength(1);
  for (const [name, value] of Object.entries(objects[0] ?? {})) {
    expect(name.length).toBeLessThanOrEqual(15);
    expect(typeof value).toBe(typeByName[name]);
    expect(Buffer.byteLength(String(value))).toBeLessThan(1_000);
  }
  expect(answer.mqtt?.['endpoint'] ?? 'h:1').toMatch(/^[\w.-]+:\d{1,5}$/);
  expect(answer.websocket?.['url'] ?? 'ws://h:1/').toMatch(/^wss?:\/\/[\w.-]+:\d{1,5}\/[^:?]*$/);
  if (answer.mqtt) expect(answer.mqtt['keepalive']).toBe(45);
  if (answer.firmware.url !== undefined)
    expect(answer.firmware.version.split('.').every((part) => /^\d/.test(part))).toBe(true);
  expect(typeof answer.server_time.timezone_offset).toBe('number');
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(6 * 1024);
}

describe('the values that would restart a device in a loop', () => {
  const reached = fc.record({
    localAddress: fc.option(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), { nil: undefined }),
    host: fc.option(
      fc.oneof(
        fc.domain(),
        fc.string(),
        fc.ipV6().map((address) => `[${address}]:8080`),
      ),
      { nil: undefined },
    ),
  });
  const firmware = fc
    .string()
    .map((version) => noUpdate(readOtaRequest({ 'user-agent': `board/${version}` }, '').firmwareVersion));
  const device = fc.record({
    transport: fc.constantFrom('MQTT' as const, 'WEBSOCKET' as const),
    timeZone: fc.option(fc.string(), { nil: undefined }),
    credential: fc.constantFrom(credential, used),
  });

  it('are in no answer to a known device, for any address and any report of the device', () => {
    fc.assert(
      fc.property(device, reached, firmware, (change, at, version) => {
        expectNoTrap(answerKnown(settings, known(change), { now: answered.now, reached: at, firmware: version }));
      }),
    );
  });

  it('are in no answer to a device that waits', () => {
    fc.assert(
      fc.property(reached, firmware, (at, version) => {
        expectNoTrap(answerWaiting(settings, pending, { now: answered.now, reached: at, firmware: version }));
      }),
    );
  });
});
