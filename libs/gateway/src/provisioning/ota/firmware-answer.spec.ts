import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isParsableVersion } from '@flotilla/firmware';
import { noUpdate } from './firmware-answer.js';

/** The parser of the firmware: an exception there restarts the device. */
function parseAsFirmware(version: string): void {
  for (const segment of version.split('.')) {
    const digits = /^\s*[+-]?(\d+)/.exec(segment)?.[1];
    if (digits === undefined || Number(digits) > 2 ** 31 - 1) throw new RangeError(`stoi("${segment}")`);
  }
}

describe('the firmware object of a device without an update', () => {
  it.each(['2.4.2', '2.4.2.1', '2.4.2-rc1', '10'])('repeats the device’s version %s with an empty url', (version) => {
    expect(noUpdate(version)).toEqual({ version, url: '' });
  });

  it.each(['v2.4.2', '2..1', 'latest', '', '.', '2.4.', '99999999999.1', 'ä2.1', '2.4.2\n', '1'.repeat(65)])(
    'has no url for %j, which the device could not compare',
    (version) => {
      expect(isParsableVersion(version)).toBe(false);
      expect(noUpdate(version)).not.toHaveProperty('url');
    },
  );

  it('keeps the numbers of a version that cannot be parsed', () => {
    expect(noUpdate('v2.4.2')).toEqual({ version: '2.4.2' });
    expect(noUpdate('latest')).toEqual({ version: '0.0.0' });
    expect(noUpdate(undefined)).toEqual({ version: '0.0.0' });
  });

  it('never makes the firmware’s parser throw, for any version that the device reports', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.v-+ ä\n'), maxLength: 80 }), (text) => {
        parseAsFirmware(noUpdate(text).version);
      }),
    );
  });
});
