import { describe, expect, it } from 'vitest';
import { udpHostFor } from './udp-host.js';

describe('the UDP host for a device', () => {
  it.each([
    ['192.0.2.7', {}, '192.0.2.7'],
    ['192.0.2.7', { publicHost: 'hub.example.net', fallbackHost: 'example.net' }, 'hub.example.net'],
    ['192.0.2.7', { fallbackHost: 'example.net' }, '192.0.2.7'],
    ['2001:db8::7', { fallbackHost: 'example.net' }, 'example.net'],
    ['2001:db8::7', { fallbackHost: '2001:db8::1' }, '127.0.0.1'],
    [undefined, {}, '127.0.0.1'],
  ])('that reached %s with %j is %s', (localAddress, hosts, expected) => {
    expect(udpHostFor(localAddress, hosts)).toBe(expected);
  });
});
