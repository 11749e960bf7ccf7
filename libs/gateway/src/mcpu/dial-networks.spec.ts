import { describe, expect, it } from 'vitest';
import { dialNetworkProblem, DialNetworks, plainAddress } from './dial-networks.js';

const privateOnes = ['10.1.2.3', '172.31.0.1', '192.168.4.1', 'fd12::1'];
const ownOnes = ['127.0.0.1', '127.9.9.9', '::1'];
const others = ['172.32.0.1', '169.254.169.254', 'fe80::1', '8.8.8.8', '2001:db8::1', 'localhost', ''];

describe('networks that may be dialled', () => {
  const onLoopback = new DialNetworks({ listed: [], isOnLoopback: true });
  const open = new DialNetworks({ listed: ['192.168.4.0/24', '169.254.0.0/16', '2001:db8::/32'], isOnLoopback: false });

  it('are by default none; for an administrator private ones, and loopback if the hub is on it', () => {
    for (const address of [...privateOnes, ...ownOnes, ...others])
      expect(onLoopback.allows(address, false), address).toBe(false);
    for (const address of [...privateOnes, ...ownOnes]) expect(onLoopback.allows(address, true), address).toBe(true);
    for (const address of others) expect(onLoopback.allows(address, true), address).toBe(false);
    for (const address of ownOnes) expect(open.allows(address, true), address).toBe(false);
  });

  it('are the listed ones for everybody who may register devices', () => {
    for (const address of ['192.168.4.1', '169.254.169.254', '2001:db8::1'])
      expect(open.allows(address, false), address).toBe(true);
    for (const address of ['192.168.5.1', '10.1.2.3', '127.0.0.1', '8.8.8.8'])
      expect(open.allows(address, false), address).toBe(false);
  });

  it.each([
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['::ffff:7f00:1', '127.0.0.1'],
    ['0:0:0:0:0:FFFF:0808:0808', '8.8.8.8'],
    ['::ffff:0.0.0.0', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
    ['0:0::0:1', '::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['192.168.0.1', '192.168.0.1'],
  ])('%s is judged as %s', (address, plain) => {
    expect(plainAddress(address)).toBe(plain);
  });

  it.each([
    ['10.0.0.0/8', true],
    ['fc00::/7', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0', false],
    ['boards', false],
  ])('%s is valid: %s', (network, isRight) => {
    expect(dialNetworkProblem(network) === undefined).toBe(isRight);
  });
});
