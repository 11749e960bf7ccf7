import { describe, expect, it, vi } from 'vitest';
import { proxyProblem, TrustedProxies } from './trusted-proxies.js';

const ask = (proxies: TrustedProxies, remoteAddress: string, headers: Readonly<Record<string, string>>) =>
  proxies.clientOf({ headers, socket: { remoteAddress } });

describe('behind proxies that write X-Forwarded-For, the client', () => {
  const proxies = new TrustedProxies(['10.0.0.7', '192.168.0.0/16', 'fd00::/8'], 'x-forwarded-for');
  const of = (value: string, peer = '10.0.0.7') => ask(proxies, peer, { 'x-forwarded-for': value }).address;

  it.each([
    ['is the address that the proxy reports', '198.51.100.4', '198.51.100.4'],
    [
      'is the right-most that is not trusted, regardless of its claims',
      '203.0.113.66, 198.51.100.4, 192.168.1.1',
      '198.51.100.4',
    ],
    ['is the first of all when every hop is trusted', '192.168.1.9, 192.168.1.1', '192.168.1.9'],
    ['is read with a port', '198.51.100.4:4711', '198.51.100.4'],
    ['is read as IPv6, with brackets and port or without', '[2001:db8::4]:4711', '2001:db8::4'],
    ['is IPv4 also where a dual-stack proxy writes it', '::ffff:198.51.100.4', '198.51.100.4'],
    ['is the proxy itself where it hides who asks', 'unknown', '10.0.0.7'],
    ['is as far as it is known', '198.51.100.4, _hidden, 192.168.1.1', '192.168.1.1'],
    ['is the proxy itself where nothing is said', '', '10.0.0.7'],
    ['is found at the end of a header of any length', `${'203.0.113.66, '.repeat(1_000)}198.51.100.4`, '198.51.100.4'],
  ])('%s', (_case, header, expected) => {
    expect(of(header)).toBe(expected);
  });

  it('is the peer when the peer is not trusted, regardless of its headers', () => {
    expect(of('198.51.100.4', '10.0.0.8')).toBe('10.0.0.8');
    expect(ask(proxies, '10.0.0.8', { 'x-forwarded-proto': 'https' }).isSecure).toBe(false);
  });

  it('is known over dual-stack sockets as well', () => {
    expect(of('198.51.100.4', '::ffff:10.0.0.7')).toBe('198.51.100.4');
  });

  it('came by HTTPS where the last proxy says so', () => {
    const secure = (proto: string) =>
      ask(proxies, 'fd00::1', { 'x-forwarded-for': '198.51.100.4', 'x-forwarded-proto': proto }).isSecure;
    expect(['https', 'HTTPS', 'http, https', 'wss', 'http', 'https, http', ''].map(secure)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(ask(proxies, '10.0.0.7', { 'x-forwarded-proto': 'https' }).isSecure).toBe(true);
  });

  it('cannot name itself in the other header', () => {
    expect(ask(proxies, '10.0.0.7', { forwarded: 'for=203.0.113.66;proto=https' })).toEqual({
      address: '10.0.0.7',
      isSecure: false,
    });
  });
});

describe('behind proxies that write Forwarded, the client', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8'], 'forwarded');
  const of = (forwarded: string) => ask(proxies, '10.0.0.7', { forwarded, 'x-forwarded-for': '203.0.113.66' });

  it.each([
    ['for=198.51.100.4', '198.51.100.4', false],
    ['For="[2001:db8:cafe::17]:4711";proto=https', '2001:db8:cafe::17', true],
    ['for=203.0.113.66, for=198.51.100.4;proto=https;by=10.0.0.9, for=10.0.0.9;proto=http', '198.51.100.4', true],
    ['host="a,for=203.0.113.66";for=198.51.100.4', '198.51.100.4', false],
    ['host="a;for=203.0.113.66";for=198.51.100.4', '198.51.100.4', false],
    ['for="unclosed, for=198.51.100.4', '198.51.100.4', false],
    ['for=203.0.113.66;proto=https;x=", for="[2001:db8:cafe::17]";proto=http', '2001:db8:cafe::17', false],
    ['for=203.0.113.66;proto=https;x=", for="198.51.100.4:4711"', '198.51.100.4', false],
    ['for=203.0.113.66, x=", for="10.0.0.9";proto=https', '10.0.0.9', false],
    ['for=203.0.113.66;proto=https;=', '10.0.0.7', false],
    ['for=203.0.113.66, , for=198.51.100.4 ; proto=https;', '198.51.100.4', true],
    [`for=198.51.100.4;host="a${','.repeat(10)}"`, '198.51.100.4', false],
    [`for=198.51.100.4;host="a${','.repeat(11)}"`, '10.0.0.7', false],
    ['for=_hidden;proto=https', '10.0.0.7', true],
    ['proto=https', '10.0.0.7', true],
    ['', '10.0.0.7', false],
  ])('of %s is %s', (header, address, isSecure) => {
    expect(of(header)).toEqual({ address, isSecure });
  });

  it('cannot make the hub read what it wrote itself', () => {
    const looks = vi.spyOn(String.prototype, 'matchAll');
    expect(of(`${'x=",'.repeat(490)} for=198.51.100.4`).address).toBe('198.51.100.4');
    expect(looks).toHaveBeenCalledOnce();
    looks.mockRestore();
  });
});

describe('the list of proxies', () => {
  it.each(['10.0.0.7', '10.0.0.0/8', '::1', 'fd00::/8'])('may have %s', (network) => {
    expect(proxyProblem(network)).toBeUndefined();
  });

  it.each(['proxy.internal', '10.0.0.0/33', '10.0.0.0/', '0.0.0.0/0', '::/0', '10.0.0.7:80'])(
    'may not have %s',
    (network) => {
      expect(proxyProblem(network)).toMatch(/^must/);
    },
  );
});
