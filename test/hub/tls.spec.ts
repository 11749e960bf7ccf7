/**
 * A hub that ends TLS itself: its HTTP is HTTPS alone and says so to browsers, and it can be asked
 * for its health under a certificate of any name.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate, type TestCertificate } from '../src/hub/certificate.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

const healthCheck = fileURLToPath(new URL('../../apps/hub/dist/program/health-check.js', import.meta.url));

let certificate: TestCertificate;
let hub: HubProcess;

beforeAll(async () => {
  certificate = makeCertificate('hub.example.net');
  hub = await startHub({ env: { ...certificate.env, FLOTILLA_MQTT_PORT: 'off', FLOTILLA_DEVICE_AUTH: 'credentials' } });
});

afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
  certificate.remove();
});

async function ask(
  path: string,
  options: RequestOptions = {},
): Promise<{ readonly answer: IncomingMessage; readonly text: string }> {
  const asked = request({ host: '127.0.0.1', port: hub.httpPort, path, rejectUnauthorized: false, ...options }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += String(chunk);
  return { answer, text };
}

async function check(env: Readonly<Record<string, string>>): Promise<{ readonly code: number; readonly said: string }> {
  const child = spawn(process.execPath, [healthCheck], {
    cwd: hub.dataDir,
    env: { PATH: process.env['PATH'], ...env },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

describe('a hub with a certificate', () => {
  it.each([
    ['GET', '/', 200],
    ['GET', '/health/live', 200],
    ['POST', '/ota/', 200],
    ['GET', '/nothing-here', 404],
    ['GET', '/metrics', 401],
    ['POST', '/graphql', 401],
  ])('makes browsers use only HTTPS: %s %s', async (method, path, status) => {
    const { answer } = await ask(path, { method });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
  });

  it('answers no plain HTTP', async () => {
    await expect(once(httpRequest({ host: '127.0.0.1', port: hub.httpPort }).end(), 'response')).rejects.toThrow();
  });

  it('passes the health check with a certificate of another name, and fails it over plain HTTP', async () => {
    const port = { FLOTILLA_HTTP_PORT: String(hub.httpPort) };
    for (const host of ['', '127.0.0.1', '0.0.0.0'])
      expect(
        await check({ ...port, FLOTILLA_HOST: host, FLOTILLA_TLS_CERT: certificate.env.FLOTILLA_TLS_CERT }),
      ).toEqual({
        code: 0,
        said: '',
      });
    expect(await check(port)).toMatchObject({ code: 1, said: expect.stringContaining('is not alive') });
  });

  it('has MQTT over TLS alone with FLOTILLA_MQTT_PORT=off, and sends devices there', async () => {
    expect(hub.mqttPort).toBe(0);
    expect(hub.mqttsPort).toBeGreaterThan(0);
    const { text } = await ask('/ota/', { method: 'POST', headers: { host: 'hub.example.net' } });
    expect(JSON.parse(text)).toMatchObject({ mqtt: { endpoint: 'hub.example.net:8883' } });
  });
});
