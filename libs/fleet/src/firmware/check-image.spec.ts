import { createHash } from 'node:crypto';
import { makeAppImage } from '@flotilla/firmware/app-image-maker';
import { describe, expect, it } from 'vitest';
import { FirmwareCheck } from './check-image.js';

describe('the check of a firmware image', () => {
  it('names the keys of its secure boot signatures as eFuses have them', () => {
    const check = new FirmwareCheck();
    const image = makeAppImage({ version: '2.5.0', hash: createHash('sha256') });
    check.push(image);
    check.push(new Uint8Array(4096 - (image.length % 4096)).fill(0xff));
    const sector = new Uint8Array(4096).fill(0xff);
    sector.set([0xe7, 2]);
    check.push(sector);
    check.end();
    const key = new Uint8Array(776).fill(0xff);
    expect(check.image?.secureBootKeys).toEqual([createHash('sha256').update(key).digest('hex')]);
  });

  it('names none for an image without a signature', () => {
    const check = new FirmwareCheck();
    check.push(makeAppImage({ version: '2.5.0' }));
    check.end();
    expect(check.image?.secureBootKeys).toEqual([]);
  });
});
