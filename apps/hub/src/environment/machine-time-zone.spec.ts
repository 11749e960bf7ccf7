import { expect, it } from 'vitest';
import { correctTimeZone } from './machine-time-zone.js';

it('is left as it is where it has a name', () => {
  const env = { TZ: 'Europe/Berlin' };
  expect(correctTimeZone('Europe/Berlin', env)).toBeUndefined();
  expect(env).toEqual({ TZ: 'Europe/Berlin' });
});

// What Node finds with TZ='' and TZ=Foo/Bar.
it.each([
  ['', 'Etc/Unknown'],
  ['Foo/Bar', undefined],
])('becomes UTC with TZ=%s', (TZ, zone) => {
  const env = { TZ };
  expect(correctTimeZone(zone, env)).toContain(`TZ=${TZ} names no time zone`);
  expect(env).toEqual({ TZ: 'UTC' });
});
