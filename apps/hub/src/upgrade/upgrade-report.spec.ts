import { describe, expect, it } from 'vitest';
import { upgradeReport } from './upgrade-report.js';

const none = { isInstalled: true, pending: [], unknown: [], seconds: [0, 0], tables: [] } as const;

describe('the report of an upgrade', () => {
  it('says that nothing changes, or that a first start makes everything', () => {
    expect(upgradeReport(none)).toContain('changes nothing');
    expect(upgradeReport({ ...none, isInstalled: false, pending: ['0001_a'] })).toContain('makes all tables');
  });

  it('names migrations, tables with their sizes, and both ends of the estimate', () => {
    const tables = [{ table: 'call', rows: 1_234_567.2, bytes: 3e8, work: ['READS', 'WRITES'] }] as const;
    const text = upgradeReport({ ...none, pending: ['0002_b'], seconds: [12.2, 130], tables });
    expect(text).toContain('0002_b');
    expect(text).toContain('call: about 1234567 rows (300 MB), read once, written again');
    expect(text).toContain('13 s on a fast local disk, up to 130 s on a slow one');
  });

  it('lets the former version start on the database of a newer one, and names when it must not', () => {
    const text = upgradeReport({ ...none, unknown: ['9999_later'], pending: [] });
    expect(text).toMatch(/newer version[\s\S]*9999_later\nThis version runs on it/);
    expect(text).toContain('"-- contract"');
  });

  it('refuses to guess about a database that has other migrations than it needs', () => {
    const text = upgradeReport({ ...none, unknown: ['0002_other'], pending: ['0002_own'] });
    expect(text).toMatch(/0002_other\n[\s\S]*lacks[\s\S]*0002_own\nStart the version that made it/);
  });
});
