import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { UploadSlots } from './upload-slots.js';

function stage() {
  const clock = new ManualClock(10_000_000);
  const slots = new UploadSlots({ perDeviceMinuteMax: 2 }, clock);
  return { clock, upload: () => slots.take('lamp')(), slots };
}

describe('UploadSlots', () => {
  it('accepts a few uploads of a device in a minute, and more in the next one', () => {
    const { clock, upload } = stage();
    upload();
    clock.advance(59_000);
    upload();
    expect(upload).toThrow('At most 2 uploads');
    clock.advance(1_000);
    upload();
  });

  it('accepts one at a time', () => {
    const { slots, upload } = stage();
    const release = slots.take('lamp');
    expect(upload).toThrow('in progress');
    release();
    upload();
  });

  it('refuses a device no longer than a minute when the clock is set back', () => {
    const { clock, upload } = stage();
    upload();
    upload();
    clock.step(-3_600_000);
    clock.advance(60_000);
    upload();
  });
});
