/**
 * MQTT over TLS checks credentials like plain MQTT, whose cases are in no-credentials-mqtt.spec.ts.
 */
import { expect, it } from 'vitest';
import { clientIdOf, mqttLogin } from '../src/devices/device-credentials.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { makeCertificate } from '../src/hub/certificate.js';
import { removeDataDir, startHub } from '../src/hub/hub-process.js';
import { openTestDatabase } from '../src/hub/test-database.js';

const lampMac = '02:00:00:00:0a:01';
const otherMac = '02:00:00:00:0a:02';

it('MQTT over TLS admits a device by its own credentials only', async () => {
  const certificate = makeCertificate('localhost');
  const database = await openTestDatabase();
  const secure = await startHub({
    env: {
      DATABASE_URL: database.url,
      FLOTILLA_ADMIN_KEY: 'a-key-of-the-story-long-enough-for-it',
      FLOTILLA_DEVICE_AUTH: 'hmac',
      ...certificate.env,
    },
  });
  try {
    const clientId = clientIdOf(lampMac);
    for (const [what, hello, code] of [
      ['none', { clientId }, 5],
      ['a wrong one', { clientId, ...mqttLogin('another secret', clientId) }, 4],
      ["another device's", { clientId, ...mqttLogin(secure.deviceSecret, clientIdOf(otherMac)) }, 4],
      ['the right one', { clientId, ...mqttLogin(secure.deviceSecret, clientId) }, 0],
    ] as const) {
      const device = await RawMqttDevice.dial(secure, 'tls');
      device.hello(hello);
      expect(await device.connack(), what).toBe(code);
      device.drop();
    }
  } finally {
    expect(await secure.stop()).toBe(0);
    await database.close();
    removeDataDir(secure.dataDir);
    certificate.remove();
  }
});
