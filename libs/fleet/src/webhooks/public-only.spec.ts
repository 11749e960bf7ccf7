import { describe, expect, it } from 'vitest';
import { publicOnly } from './public-only.js';

describe('a connection to the public internet only', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '192.168.7.31',
    '169.254.169.254',
    '[::1]',
    '[fe80::1]',
    '[fd00::1]',
    '[::ffff:7f00:1]',
    '0.0.0.0',
  ])('does not go to %s', (host) => {
    expect(publicOnly.refuse(host)).toMatchObject({ code: 'URL_FORBIDDEN' });
  });

  it('goes to public addresses, and leaves names to the lookup', () => {
    for (const host of ['8.8.8.8', '[2606:4700::1111]', 'localhost']) expect(publicOnly.refuse(host)).toBeUndefined();
  });

  it.each([true, false])('does not go where a name leads elsewhere (all: %s)', async (all) => {
    const looked = new Promise((resolve) => publicOnly.lookup('localhost', { all }, (error) => resolve(error)));
    expect(await looked).toMatchObject({
      code: 'URL_FORBIDDEN',
      message: expect.stringMatching(/^localhost resolves to (127\.0\.0\.1|::1), which is not/) as unknown,
    });
  });
});
