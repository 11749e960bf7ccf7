import { describe, expect, it } from 'vitest';
import { csvOf } from './lines-csv';

const point = { at: '2026-11-26T10:00:00.000Z', min: 1, mean: 2.5, max: 4, p95: 3.75, deviceCount: 12 };

describe('the file of a chart', () => {
  it('has a row for each point of each line', () => {
    const lines = [
      { name: '2.4.2', points: [point, { ...point, at: '2026-11-26T11:00:00.000Z' }] },
      { name: 'Lobby, left', points: [point] },
    ];
    expect(csvOf('samples:soil', lines)).toBe(
      [
        'path,of,at,min,mean,max,p95,devices',
        'samples:soil,2.4.2,2026-11-26T10:00:00.000Z,1,2.5,4,3.75,12',
        'samples:soil,2.4.2,2026-11-26T11:00:00.000Z,1,2.5,4,3.75,12',
        'samples:soil,"Lobby, left",2026-11-26T10:00:00.000Z,1,2.5,4,3.75,12',
        '',
      ].join('\n'),
    );
  });

  it('has no formulas', () => {
    expect(csvOf('=1+1', [{ name: '@cmd', points: [point] }])).toContain("'=1+1,'@cmd,");
  });
});
