import { describe, expect, it } from 'vitest';
import { isParsableVersion, parsableVersion } from './version-text.js';

describe('isParsableVersion', () => {
  it.each(['2.4.2', '2.4.2.1', '2.4.2-rc1', '10', '2.4.2 beta'])('takes %s', (version) => {
    expect(isParsableVersion(version)).toBe(true);
  });

  it.each(['v2.4.2', '2..1', 'latest', '', '.', '2.4.', '2.x.1', '99999999999.1', '1'.repeat(65)])(
    'refuses %j',
    (version) => {
      expect(isParsableVersion(version)).toBe(false);
    },
  );
});

describe('parsableVersion', () => {
  it.each([
    ['v2.4.2', '2.4.2'],
    ['latest', '0.0.0'],
    ['1.2.3.4.5', '1.2.3.4'],
  ])('converts %s to %s', (text, version) => {
    expect(parsableVersion(text)).toBe(version);
  });
});
