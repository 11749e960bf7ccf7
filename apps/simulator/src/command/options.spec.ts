/** Values of the command line that exclude each other, or that no device could use. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readOptions } from './options.js';

const read = (...args: string[]) => readOptions(['node', 'simulate', ...args], {});

describe('a command line', () => {
  let said = '';
  beforeEach(() => {
    said = '';
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
    vi.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exit');
    });
  });
  afterEach(() => vi.restoreAllMocks());

  it.each([['::1'], ['hub.example:8080'], ['http://hub.example'], ['']])(
    'refuses %j, which is not a name or an IPv4 address, as a host',
    (host) => {
      expect(() => read('--host', host)).toThrow('exit');
      expect(said).toContain('--host must be a name or an IPv4 address');
    },
  );

  it('refuses several source addresses of this machine for an OTA address elsewhere', () => {
    for (const spread of [
      ['--local-addresses', '2'],
      ['--devices', '30000'],
    ]) {
      said = '';
      expect(() => read(...spread, '--ota', 'http://192.0.2.7:8080/ota/')).toThrow('exit');
      expect(said).toContain('--local-addresses 2 needs a loopback hub');
    }
  });
});

describe('source addresses', () => {
  it.each([
    ['several for an OTA address of this machine', ['--ota', 'http://localhost:8080/ota/', '--devices', '30000'], 2],
    ['one for a small fleet elsewhere', ['--ota', 'http://192.0.2.7:8080/ota/'], 1],
    ['one for a small fleet of a hub elsewhere', ['--host', 'hub.example'], 1],
  ])('are %s', (_what, args, count) => {
    expect(read(...args).localAddresses).toBe(count);
  });
});
