import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { reportSamples } from './device-reports.js';
import type { Report } from './measurement-recorder.js';

const day = 86_400_000;
const now = Date.UTC(2026, 10, 27);

function reported(intervalMs: number, values: readonly number[]) {
  const reports: Report[] = [];
  const recorder = { take: (report: Report) => void reports.push(report), wants: () => true };
  reportSamples(recorder, 'board' as DeviceId, { name: 'soil', intervalMs, values }, now);
  return reports.map(({ at, numbers }) => [at, numbers[0]?.value]);
}

describe('reportSamples', () => {
  it('gives each sample its time, the newest last', () => {
    expect(reported(1_000, [1, 2, 3])).toEqual([
      [now - 2_000, 1],
      [now - 1_000, 2],
      [now, 3],
    ]);
  });

  it('skips samples of more than a week ago', () => {
    expect(reported(day, [0, 1, 2, 3, 4, 5, 6, 7, 8]).map(([, value]) => value)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(reported(1e15, [1, 2])).toEqual([[now, 2]]);
    expect(reported(1e308, [1, 2, 3, 4])).toEqual([[now, 4]]);
  });
});
