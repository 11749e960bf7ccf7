import { describe, expect, it } from 'vitest';
import { hubAddress } from './connection.js';

const environment = { FLOTILLA_URL: 'https://hub.example', FLOTILLA_KEY: 'from-environment' };

describe('the hub and the key of a command', () => {
  it('come from options, then from the environment, then from the default', () => {
    expect(hubAddress({ url: 'http://other:1', key: 'given' }, environment)).toEqual({
      url: 'http://other:1',
      apiKey: 'given',
    });
    expect(hubAddress({}, environment)).toEqual({ url: 'https://hub.example', apiKey: 'from-environment' });
    expect(hubAddress({ key: 'k' }, {}).url).toBe('http://127.0.0.1:8080');
  });

  it.each([
    [{ url: 'hub.example' }, '"hub.example" is not an address of a hub'],
    [{ url: 'ftp://hub' }, 'is not an address of a hub'],
    [{ key: '' }, 'No API key.'],
    [{ key: 'two words' }, 'The API key has invalid characters.'],
    [{ keyFile: '/no/such/file' }, 'The key file cannot be read'],
  ])('are rejected if they are invalid: %j', (options, message) => {
    expect(() => hubAddress(options, environment)).toThrow(message);
  });

  it('need a key', () => expect(() => hubAddress({}, {})).toThrow('No API key.'));
});
