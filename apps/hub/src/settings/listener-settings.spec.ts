import { expect, it } from 'vitest';
import { readConfig } from './config.js';
import { localUrl } from './listener-settings.js';

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['::', 'http://[::1]:8080'],
  ['::1', 'http://[::1]:8080'],
])('is reached from this machine if it listens on %s', (host, url) => {
  expect(localUrl({ host, httpPort: 8080, tls: undefined })).toBe(url);
});

it('is reached over HTTPS with a certificate', () => {
  const tls = { certFile: '/cert.pem', keyFile: '/key.pem' };
  expect(localUrl({ host: '127.0.0.1', httpPort: 8443, tls })).toBe('https://127.0.0.1:8443');
});

it('has a port for each listener that is open', () => {
  const tls = { FLOTILLA_TLS_CERT: '/cert.pem', FLOTILLA_TLS_KEY: '/key.pem' };
  expect(() => readConfig({ FLOTILLA_HTTP_PORT: '1883' })).toThrow(
    'FLOTILLA_HTTP_PORT and FLOTILLA_MQTT_PORT are both 1883.',
  );
  expect(() => readConfig({ ...tls, FLOTILLA_HTTP_PORT: '8883' })).toThrow(
    'FLOTILLA_HTTP_PORT and FLOTILLA_MQTTS_PORT are both 8883.',
  );
  const split = { DATABASE_URL: 'postgres://db/hub', REDIS_URL: 'redis://cache', FLOTILLA_AUDIT_KEY: 'a'.repeat(32) };
  for (const env of [
    { FLOTILLA_HTTP_PORT: '0', FLOTILLA_MQTT_PORT: '0' },
    { FLOTILLA_HTTP_PORT: '8883' },
    { ...split, FLOTILLA_HTTP_PORT: '1883', FLOTILLA_ROLES: 'api' },
  ])
    expect(() => readConfig(env)).not.toThrow();
});
