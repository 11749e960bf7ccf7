import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hubAddress, hubUrl } from './connection.js';
import { exitCodes } from './exit-codes.js';
import { profileFile, writeProfiles } from './profiles/profile-store.js';

let config: NodeJS.ProcessEnv;
let environment: NodeJS.ProcessEnv;
beforeEach(() => {
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-connection-'));
  config = { XDG_CONFIG_HOME: folder, APPDATA: folder };
  environment = { ...config, FLOTILLA_URL: 'https://hub.example', FLOTILLA_KEY: 'from-environment' };
});
afterEach(() => rmSync(config['XDG_CONFIG_HOME'] ?? '', { recursive: true }));

describe('the hub and the key of a command', () => {
  it('come from options, then from the environment, then from the default', () => {
    expect(hubAddress({ url: 'http://other:1', key: 'given' }, environment)).toEqual({
      url: 'http://other:1',
      apiKey: 'given',
    });
    expect(hubAddress({}, environment)).toEqual({ url: 'https://hub.example', apiKey: 'from-environment' });
    expect(hubAddress({ key: 'k' }, config).url).toBe('http://127.0.0.1:8080');
  });

  it.each([
    [{ url: 'hub.example' }, '"hub.example" is not an address of a hub'],
    [{ url: 'ftp://hub' }, 'is not an address of a hub'],
    [{ key: '' }, 'No API key for https://hub.example.'],
    [{ key: 'two words' }, 'The API key has invalid characters.'],
    [{ keyFile: '/no/such/file' }, 'The key file cannot be read'],
    [{ keyFile: '/dev/null' }, 'The key file /dev/null is empty. Check --key-file.'],
    [{ profile: 'shop' }, 'There is no profile "shop". Create it with: flotilla login --profile shop'],
  ])('are rejected if they are invalid: %j', (options, message) => {
    expect(() => hubAddress(options, environment)).toThrow(message);
  });

  it('need a key', () => expect(() => hubAddress({}, config)).toThrow('No API key for http://127.0.0.1:8080.'));

  it.each([{}, { key: 'two words' }])('end with the code of a missing or invalid key: %j', (options) => {
    expect(() => hubAddress(options, config)).toThrow(expect.objectContaining({ exitCode: exitCodes.forbidden }));
  });
});

describe('a profile', () => {
  const shop = { url: 'https://shop.example', key: 'shop-key' };
  const lab = { url: 'https://lab.example', key: 'lab-key' };
  beforeEach(() => writeProfiles(profileFile(config), { current: 'shop', profiles: { shop, lab } }));

  it('is used if it is the current one and the environment has no hub', () => {
    expect(hubAddress({}, config)).toEqual({ url: shop.url, apiKey: shop.key });
    expect(hubAddress({}, { ...config, FLOTILLA_PROFILE: 'lab' })).toEqual({ url: lab.url, apiKey: lab.key });
    expect(hubAddress({}, environment)).toEqual({ url: 'https://hub.example', apiKey: 'from-environment' });
  });

  it('is not read if the address and the key are known without it', () => {
    writeFileSync(profileFile(config), 'damaged');
    expect(hubAddress({}, environment)).toEqual({ url: 'https://hub.example', apiKey: 'from-environment' });
    expect(hubUrl({ url: 'http://other:1' }, config)).toBe('http://other:1');
    expect(() => hubAddress({ url: 'http://other:1' }, config)).toThrow('expected JSON');
    expect(() => hubAddress({ profile: 'lab' }, environment)).toThrow('expected JSON');
  });

  it('has precedence over the environment if an option names it', () => {
    expect(hubAddress({ profile: 'lab' }, environment)).toEqual({ url: lab.url, apiKey: lab.key });
  });

  it('never gives its key to another hub', () => {
    expect(() => hubAddress({ url: 'https://other.example' }, config)).toThrow('No API key for https://other.example.');
    expect(() => hubAddress({}, { ...config, FLOTILLA_URL: lab.url })).toThrow('No API key for https://lab.example.');
    expect(hubAddress({ url: 'https://shop.example/' }, config).apiKey).toBe(shop.key);
  });
});
