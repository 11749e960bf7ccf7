import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { defaultDialNetworks, DialNetworks, dialNetworkProblem } from './dial-networks.js';

describe('networks that may be dialled', () => {
  const networks = new DialNetworks(defaultDialNetworks);

  it.each(['10.1.2.3', '172.31.0.1', '192.168.4.1', '127.0.0.1', '::1', 'fd12::1'])('%s is in a private one', (address) => {
    expect(networks.allows(address)).toBe(true);
  });

  it.each(['172.32.0.1', '169.254.169.254', '8.8.8.8', '2001:db8::1', '::ffff:8.8.8.8', 'localhost', ''])('%s is not', (address) => {
    expect(networks.allows(address)).toBe(false);
  });

  it.each([
    ['10.0.0.0/8', true],
    ['fc00::/7', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0', false],
    ['boards', false],
  ])('%s is well written: %s', (network, isRight) => {
    expect(dialNetworkProblem(network) === undefined).toBe(isRight);
  });

  it('hold for names, too, whatever address they have at the moment', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const allowed = connect({ host: 'localhost', port, family: 4, lookup: networks.lookup });
    await once(allowed, 'connect');
    allowed.destroy();
    const forbidden = connect({ host: 'localhost', port, lookup: new DialNetworks(['10.0.0.0/8']).lookup });
    await expect(once(forbidden, 'connect')).rejects.toThrow('localhost is not in a network that may be dialled');
    server.close();
  });
});
