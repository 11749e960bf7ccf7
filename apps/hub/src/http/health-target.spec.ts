import { expect, it } from 'vitest';
import { healthTarget } from './health-target.js';

it('is where the hub listens', () => {
  expect(healthTarget({})).toEqual({ host: '127.0.0.1', port: 8080 });
  expect(healthTarget({ FLOTILLA_HOST: '', FLOTILLA_HTTP_PORT: '' })).toEqual({ host: '127.0.0.1', port: 8080 });
  expect(healthTarget({ FLOTILLA_HOST: '::', FLOTILLA_HTTP_PORT: '80' })).toEqual({ host: '::1', port: 80 });
  expect(healthTarget({ FLOTILLA_HOST: '10.0.0.7' })).toEqual({ host: '10.0.0.7', port: 8080 });
});

it.each(['http', '0', '65536', '80.5', '-1', ' 80'])('refuses the port "%s"', (port) => {
  expect(() => healthTarget({ FLOTILLA_HTTP_PORT: port })).toThrow(`from 1 to 65535, not "${port}"`);
});
