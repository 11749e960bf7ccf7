import { describe, expect, it } from 'vitest';
import { hasMaskedSecret, isSecretMember, maskAll, maskArguments, maskSecrets, maskValue } from './secret-arguments.js';

describe('arguments with secret names', () => {
  it.each([
    'password',
    'wifiPassword',
    'passwd',
    'passphrase',
    'passcode',
    'passwords',
    'clientSecret',
    'access_token',
    'psk',
    'wifi_psk',
  ])('%s is secret', (name) => expect(isSecretMember(name, 'x')).toBe(true));
  it.each(['ssid', 'volume', 'compass', 'bypass', 'keyboard', 'pinned', 'brightness'])('%s is not secret', (name) => {
    expect(isSecretMember(name, 5)).toBe(false);
  });

  it('are masked at every level and in lists, while everything else keeps its order', () => {
    const args = {
      ssid: 'net',
      password: 'p',
      nets: [{ psk: 'a', ssid: 'b' }, 3],
      token: { a: 1 },
      secret: true,
      key: '',
    };
    const masked = {
      ssid: 'net',
      password: '***',
      nets: [{ psk: '***', ssid: 'b' }, 3],
      token: '***',
      secret: true,
      key: '',
    };
    expect(JSON.stringify(maskSecrets(args))).toBe(JSON.stringify(masked));
  });

  it('are found without copying: an object without any is returned itself', () => {
    const args = { volume: 3, colour: { red: [1, 2] } };
    expect(maskSecrets(args)).toBe(args);
  });

  it('do not include the pin number of a pin tool', () => {
    expect(maskArguments('gpio_write', { pin: 4, token: 't' })).toEqual({ pin: 4, token: '***' });
    expect(maskArguments('door.open', { pin: 1234 })).toEqual({ pin: '***' });
  });

  it('hide a value if one of its names is secret, or what it contains', () => {
    expect(maskValue(['value', 'wifi', 'password'], 'p')).toBe('***');
    expect(maskValue(['value', 'wifi'], { psk: 'a', ssid: 'b' })).toEqual({ psk: '***', ssid: 'b' });
    expect(maskValue(['volume'], 3)).toBe(3);
  });

  it('are recognised after they were masked', () => {
    expect(hasMaskedSecret('door.open', { list: [{ pin: '***' }] })).toBe(true);
    expect(hasMaskedSecret('gpio_read', { pin: '***' })).toBe(false);
    expect(hasMaskedSecret('x', { text: '***' })).toBe(false);
  });

  it('are masked as a whole below the maximum depth', () => {
    let deep: unknown = { password: 'p' };
    for (let level = 0; level < 5_000; level += 1) deep = [deep];
    expect(JSON.stringify(maskSecrets({ deep }))).not.toContain('"p"');
  });

  it('are reduced to their names for a viewer without access to values', () => {
    expect(maskAll({ a: 1, b: { c: 2 } })).toEqual({ a: '***', b: '***' });
  });
});
