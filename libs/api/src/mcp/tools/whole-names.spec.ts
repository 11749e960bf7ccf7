/** Names that an agent gives back are whole, as long as devices may choose them. */
import { expect, it } from 'vitest';
import { defaultToolPolicy } from '@flotilla/jobs';
import { CostBudget } from '../../limits/cost-budget.js';
import type { AgentCaller } from '../session/agent-caller.js';
import { describedTool } from './listed-tool.js';
import { readMeasurements } from './measurement-tools.js';
import type { AgentTool } from './tool-catalogue.js';

it('the name of a tool is whole, so that call_tool accepts it', () => {
  const name = `self.${'x'.repeat(251)}`;
  const tool = { name, description: '', inputSchema: {}, userOnly: false, schemaKnown: true };
  const device = { id: 'board' } as AgentTool['device'];
  const entry = { agentName: 'board__x', device, tool, policy: defaultToolPolicy, readOnly: undefined };
  expect(describedTool(entry)['name']).toBe(name);
});

it.each([{}, { device: 'board' }])('the path of a measurement is whole in the answer to %j', async (args) => {
  const path = `samples:${'x'.repeat(192)}`;
  const view = {
    devices: { find: async () => ({ id: 'board' }) },
    measurements: {
      pathsOver: async () => [path],
      latestOf: async () => new Map([['board', [{ path, value: 1, at: 0 }]]]),
    },
  };
  const caller = { viewer: { scopes: ['ADMIN'] }, view } as unknown as AgentCaller;
  const { structuredContent } = await readMeasurements({ budget: new CostBudget(1) }, caller, args);
  expect(structuredContent).toMatchObject({ paths: [{ path }] });
});
