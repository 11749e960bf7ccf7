/** What a viewer may do with a job, recurring job or desired state, as the mutations decide it. */
import type { Job } from '@flotilla/jobs';
import type { DesiredStateRow, FleetView, Principal, RecurringJobRow, Registry, Scope } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { ApiContext } from '../api-context.js';
import type { FleetWideStores } from '../api-deps.js';
import { DesiredStateResolver } from '../desired-states/desired-state.resolver.js';
import type { FleetOperations } from '../fleet-operations.js';
import { refusingFleet } from '../mount/api-stubs.suite.js';
import { JobResolver } from './job.resolver.js';
import { RecurringJobResolver } from './recurring-job.resolver.js';

const asked: string[][] = [];
const view = {
  jobs: {
    haveTargetsOutside: async (jobs: readonly Pick<Job, 'id'>[]) => {
      asked.push(jobs.map(({ id }) => id));
      return jobs.map(({ id }) => id === 'wide');
    },
  },
} as unknown as FleetView;

const contextOf = (scopes: readonly Scope[], devices?: Principal['devices']) => {
  const viewer: Principal = { kind: 'KEY', id: 'lab', name: 'lab', scopes, devices };
  return new ApiContext({ viewFor: () => view } as unknown as Registry, { viewer, session: undefined });
};
const limited = { tags: ['lab'] };
const savedBy = (savedById: string) => ({ createdById: 'KEY:lab', savedById });

describe('the rights of a viewer', () => {
  const jobs = new JobResolver(refusingFleet);
  const maySteer = (ids: readonly string[], context: ApiContext) =>
    Promise.all(ids.map((id) => jobs.viewerMaySteer({ id } as Job, undefined, context)));

  it('to steer jobs need JOBS_WRITE and all devices of the job, with one look-up for a list', async () => {
    asked.length = 0;
    expect(await maySteer(['own', 'wide', 'own'], contextOf(['JOBS_READ', 'JOBS_WRITE'], limited))).toEqual([
      true,
      false,
      true,
    ]);
    expect(asked).toEqual([['own', 'wide']]);
    expect(await maySteer(['own', 'wide'], contextOf(['JOBS_READ']))).toEqual([false, false]);
    expect(asked).toHaveLength(1);
  });

  it('to change a recurring job need JOBS_WRITE, and of a limited key that it saved it last', () => {
    const recurring = new RecurringJobResolver({} as FleetWideStores, refusingFleet);
    const mayChange = (saver: string, context: ApiContext) =>
      recurring.viewerMayChange(savedBy(saver) as RecurringJobRow, undefined, context);
    expect(mayChange('USER:ada', contextOf(['JOBS_WRITE']))).toBe(true);
    expect(mayChange('USER:ada', contextOf(['JOBS_READ', 'TOOLS_CALL']))).toBe(false);
    expect(mayChange('KEY:lab', contextOf(['JOBS_WRITE'], limited))).toBe(true);
    expect(mayChange('USER:ada', contextOf(['JOBS_WRITE'], limited))).toBe(false);
  });

  it('to run recurring jobs depend on the tool or image, with one look-up for each tool of a list', async () => {
    const tools: string[] = [];
    const fleet: FleetOperations = {
      ...refusingFleet,
      scopeToCall: async (tool) => {
        tools.push(tool);
        return tool === 'self.reboot' ? 'TOOLS_CALL_PRIVILEGED' : undefined;
      },
      scopeToRollOut: () => 'FIRMWARE_WRITE',
    };
    const recurring = new RecurringJobResolver({} as FleetWideStores, fleet);
    const context = contextOf(['JOBS_WRITE', 'TOOLS_CALL']);
    const missing = (request: object) =>
      recurring.runScopeMissing({ request } as unknown as RecurringJobRow, undefined, context);
    const requests = [
      { tool: 'self.reboot' },
      { tool: 'self.lamp' },
      { tool: 'self.reboot' },
      { firmwareImageId: 'i' },
    ];
    expect(await Promise.all(requests.map(missing))).toEqual([
      'TOOLS_CALL_PRIVILEGED',
      undefined,
      'TOOLS_CALL_PRIVILEGED',
      'FIRMWARE_WRITE',
    ]);
    expect(tools).toEqual(['self.reboot', 'self.lamp']);
  });

  it('to change a desired state also need TOOLS_CALL', () => {
    const states = new DesiredStateResolver(refusingFleet);
    const mayChange = (saver: string, context: ApiContext) =>
      states.viewerMayChange(savedBy(saver) as DesiredStateRow, undefined, context);
    expect(mayChange('USER:ada', contextOf(['JOBS_WRITE', 'TOOLS_CALL']))).toBe(true);
    expect(mayChange('USER:ada', contextOf(['JOBS_WRITE']))).toBe(false);
    expect(mayChange('USER:ada', contextOf(['TOOLS_CALL']))).toBe(false);
    expect(mayChange('KEY:lab', contextOf(['JOBS_WRITE', 'TOOLS_CALL'], limited))).toBe(true);
    expect(mayChange('USER:ada', contextOf(['JOBS_WRITE', 'TOOLS_CALL'], limited))).toBe(false);
  });
});
