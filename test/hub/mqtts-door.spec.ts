/** MQTT over TLS is a door like the plain one: the walk over all of them is in nobody-in.spec.ts. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { clientIdOf, mqttLogin } from '../src/devices/device-credentials.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { removeDataDir, startHub } from '../src/hub/hub-process.js';
import { openTestDatabase } from '../src/hub/test-database.js';

const lampMac = '02:00:00:00:0a:01';
const otherMac = '02:00:00:00:0a:02';

it('MQTT over TLS admits a device by its own credentials only', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-story-tls-'));
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', ['req', '-x509', ...curve, '-subj', '/CN=localhost', '-days', '2', '-nodes', ...files], { stdio: 'ignore' });
  const database = await openTestDatabase();
  const secure = await startHub({
    env: {
      DATABASE_URL: database.url,
      FLOTILLA_ADMIN_KEY: 'a key of the story, long enough for it',
      FLOTILLA_DEVICE_AUTH: 'hmac',
      FLOTILLA_MQTTS_PORT: '0',
      FLOTILLA_TLS_CERT: certFile,
      FLOTILLA_TLS_KEY: keyFile,
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
    rmSync(folder, { recursive: true });
  }
});
