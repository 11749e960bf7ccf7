import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { DialRules } from './dial-rules.js';

const places = {
  ownPorts: () => [8080, 1883],
  services: [
    { host: 'localhost', port: 5432 },
    { host: '10.9.9.9', port: 6379 },
  ],
};
const onLoopback = new DialRules({ listed: [], isOnLoopback: true, ...places });
const everywhere = new DialRules({ listed: ['0.0.0.0/0', '::/0'], isOnLoopback: false, ...places });

describe('an address to dial', () => {
  it('is allowed with the addresses that are connected to', async () => {
    expect(await onLoopback.judge('127.0.0.1:3000', true)).toEqual({ kind: 'allowed', addresses: ['127.0.0.1'] });
    expect(await onLoopback.judge('[::ffff:10.0.0.7]:3000', true)).toEqual({
      kind: 'allowed',
      addresses: ['10.0.0.7'],
    });
    expect(await onLoopback.judge('localhost:3000', true)).toMatchObject({ kind: 'allowed' });
    expect(await everywhere.judge('8.8.8.8:3000', false)).toMatchObject({ kind: 'allowed' });
  });

  it('is rejected outside the networks, with advice', async () => {
    expect(await onLoopback.judge('127.0.0.1:3000', false)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('an administrator without a device filter'),
    });
    expect(await onLoopback.judge('localhost:3000', false)).toMatchObject({ kind: 'refused' });
    expect(await onLoopback.judge('169.254.169.254:80', true)).toMatchObject({ kind: 'refused' });
    expect(await onLoopback.judge('8.8.8.8:53', true)).toMatchObject({ kind: 'refused' });
  });

  it('is never a port of the hub or of its servers, in any notation', async () => {
    const own = Object.values(networkInterfaces()).flatMap(
      (entries) => entries?.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)) ?? [],
    );
    const hosts = [
      '127.0.0.1',
      '127.3.3.3',
      'localhost',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      ...own,
    ];
    for (const host of hosts)
      for (const port of [8080, 1883, 5432])
        expect(await everywhere.judge(`${host}:${String(port)}`, true), `${host}:${String(port)}`).toMatchObject({
          kind: 'refused',
        });
    expect(await everywhere.judge('10.9.9.9:6379', true)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('itself'),
    });
    expect(await everywhere.judge('10.9.9.8:6379', true)).toMatchObject({ kind: 'allowed' });
  });

  it('is unknown if its name has no address', async () => {
    expect(await everywhere.judge('no-such-host.invalid:3000', true)).toMatchObject({ kind: 'unknown' });
  });
});
