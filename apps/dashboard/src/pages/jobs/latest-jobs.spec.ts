import { describe, expect, it } from 'vitest';
import { isBeyond, withFirstPage } from './latest-jobs';

const rowsOf = (ids: string) => [...ids].map((id) => ({ id }));
const pageOf = (ids: string, hasNextPage = true) => ({ nodes: rowsOf(ids), pageInfo: { hasNextPage } });

describe('the list of jobs', () => {
  it('has its first page as it is now, and the rows beyond it', () => {
    expect(withFirstPage(rowsOf('dcba'), pageOf('fed'))).toEqual(rowsOf('fedcba'));
    expect(withFirstPage(rowsOf('dcba'), pageOf('dc', false))).toEqual(rowsOf('dc'));
  });

  it('may lack jobs where the first page has none of its rows', () => {
    expect(isBeyond(pageOf('hgf'), rowsOf('dcba'))).toBe(true);
    expect(isBeyond(pageOf('fed'), rowsOf('dcba'))).toBe(false);
  });

  it('lacks nothing before its first read, or where the first page is all there is', () => {
    expect(isBeyond(pageOf('hgf'), [])).toBe(false);
    expect(isBeyond(pageOf('hgf', false), rowsOf('dcba'))).toBe(false);
    expect(isBeyond(pageOf('', false), rowsOf('dcba'))).toBe(false);
  });
});
