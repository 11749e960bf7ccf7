import { describe, expect, it } from 'vitest';
import { hasMaskedSecret, isSecretMember, maskAll, maskArguments, maskSecrets } from './secret-arguments.js';

describe('arguments whose names look secret', () => {
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
  ])('%s is one', (name) => expect(isSecretMember(name, 'x')).toBe(true));
  it.each(['ssid', 'volume', 'compass', 'bypass', 'keyboard', 'pinned', 'brightness'])('%s is not', (name) => {
    expect(isSecretMember(name, 5)).toBe(false);
  });

  it('are masked at every level and in lists, and everything else stays in its order', () => {
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

  it('are not looked for by copying: without any the same object comes back', () => {
    const args = { volume: 3, colour: { red: [1, 2] } };
    expect(maskSecrets(args)).toBe(args);
  });

  it('hide no number of a pin from whoever reads what a pin tool did', () => {
    expect(maskArguments('gpio_write', { pin: 4, token: 't' })).toEqual({ pin: 4, token: '***' });
    expect(maskArguments('door.open', { pin: 1234 })).toEqual({ pin: '***' });
  });

  it('are known again once they are masked', () => {
    expect(hasMaskedSecret('door.open', { list: [{ pin: '***' }] })).toBe(true);
    expect(hasMaskedSecret('gpio_read', { pin: '***' })).toBe(false);
    expect(hasMaskedSecret('x', { text: '***' })).toBe(false);
  });

  it('are masked as a whole below what is looked through', () => {
    let deep: unknown = { password: 'p' };
    for (let level = 0; level < 5_000; level += 1) deep = [deep];
    expect(JSON.stringify(maskSecrets({ deep }))).not.toContain('"p"');
  });

  it('are shown by their names alone to whoever may see no value', () => {
    expect(maskAll({ a: 1, b: { c: 2 } })).toEqual({ a: '***', b: '***' });
  });
});
