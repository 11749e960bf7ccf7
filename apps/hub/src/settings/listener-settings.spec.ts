import { expect, it } from 'vitest';
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
