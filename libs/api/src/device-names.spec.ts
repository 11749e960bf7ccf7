import { describe, expect, it } from 'vitest';
import { refuseDeviceNames } from './device-names.js';

describe('refuseDeviceNames', () => {
  it('lets ordinary names and tags of any script be, and null take a name away', () => {
    expect(refuseDeviceNames({ name: 'Küche', tags: ['site:berlin', 'v1.2', '厨房'] }, [])).toBeUndefined();
    expect(refuseDeviceNames({ name: null }, [])).toBeUndefined();
  });

  it.each(['', ' ', 'x'.repeat(101)])('refuses the name "%s"', (name) => {
    expect(refuseDeviceNames({ name }, ['input'])).toMatchObject({ code: 'INVALID', path: ['input', 'name'] });
  });

  it.each(['', 'two words', '-dash', 'x'.repeat(65), 'a\nb'])('refuses the tag "%s"', (tag) => {
    expect(refuseDeviceNames({ tags: ['good', tag] }, ['input'])).toMatchObject({ code: 'INVALID', path: ['input', 'tags'] });
  });

  it('refuses more tags than one device can have', () => {
    const tags = Array.from({ length: 51 }, (_, index) => `t${index}`);
    expect(refuseDeviceNames({ tags }, [])).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
