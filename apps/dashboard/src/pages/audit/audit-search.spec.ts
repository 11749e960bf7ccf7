import { describe, expect, it } from 'vitest';
import { parseAuditSearch } from './audit-search';

describe('the address of the Audit page', () => {
  it('has conditions, also those that look like numbers', () => {
    expect(parseAuditSearch({ actor: 12, action: 'job.created', subject: '' })).toEqual({
      actor: '12',
      action: 'job.created',
    });
    expect(parseAuditSearch({ actor: ['x'], action: null, other: 'x' })).toEqual({});
  });
});
