import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { DownloadMeter } from './download-meter.js';

describe('DownloadMeter', () => {
  it('reports progress again soon after the clock was set back', () => {
    const clock = new ManualClock(10_000_000);
    const reported: number[] = [];
    const report = ({ bytes }: { readonly bytes: number }) => Promise.resolve(void reported.push(bytes));
    const meter = new DownloadMeter({ downloadId: 'd', everyMs: 2_000, clock, report });
    meter.resume();
    meter.write(Buffer.alloc(10));
    clock.advance(2_000);
    meter.write(Buffer.alloc(20));
    expect(reported).toEqual([30]);
    clock.step(-3_600_000);
    clock.advance(2_000);
    meter.write(Buffer.alloc(40));
    clock.advance(2_000);
    meter.write(Buffer.alloc(80));
    expect(reported).toEqual([30, 40, 80]);
  });
});
