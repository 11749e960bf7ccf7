import { expect, it } from 'vitest';
import { emptyProgress } from '@flotilla/jobs';
import type { AgentCaller } from '../session/agent-caller.js';
import { runFleetTool, type AgentDeps } from './run-fleet-tool.js';

it('shows the name of the tool, which a device chose, without hidden text', async () => {
  const job = { id: 'j', tool: 'self.\u{E0041}\u200Bprint', state: 'RUNNING', targetCount: 1 };
  const jobs = {
    find: async () => job,
    progress: async () => new Map([['j', emptyProgress]]),
    failureGroups: async () => [[]],
  };
  const caller = { viewer: { scopes: ['JOBS_READ'] }, view: { jobs } } as unknown as AgentCaller;
  const { structuredContent } = await runFleetTool({} as AgentDeps, caller, 'job_status', { job: 'j' });
  expect(structuredContent).toMatchObject({ tool: 'self.print' });
});
