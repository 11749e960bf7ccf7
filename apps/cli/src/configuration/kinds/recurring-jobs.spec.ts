import { describe, expect, it } from 'vitest';
import type { Fields } from '../kind.js';
import { planOf } from '../plan.js';
import { recurringJobs } from './recurring-jobs.js';

const fieldsWith = (health?: Fields): Fields => ({
  cron: '@daily',
  timeZone: 'UTC',
  job: { firmwareImage: 'a'.repeat(64), devices: { all: true }, ...(health && { health }) },
});
const live = { id: '1', name: 'Nightly', fields: fieldsWith({ observeSeconds: 600, action: 'PAUSE' }) };

function planned(health?: Fields) {
  const wanted = fieldsWith(health);
  const { action, conflicts } = planOf({
    kind: recurringJobs,
    name: live.name,
    wanted,
    applied: { fields: wanted, revision: 1 },
    live,
  });
  return [action, conflicts.length];
}

describe('a plan of a recurring roll-out', () => {
  it('knows what the hub adds to a health gate', () => {
    expect(planned({})).toEqual(['none', 0]);
    expect(planned({ maxRestartsPer1000Hours: 5 })).toEqual(['update', 1]);
  });

  it('finds a health gate that the file does not have', () => {
    expect(planned()).toEqual(['update', 1]);
  });
});
