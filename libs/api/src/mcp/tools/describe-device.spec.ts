import { expect, it } from 'vitest';
import { defaultToolPolicy } from '@flotilla/jobs';
import type { AgentCaller } from '../session/agent-caller.js';
import { runFleetTool, type AgentDeps } from './run-fleet-tool.js';

const device = { id: 'lamp', tags: [], presence: 'ONLINE' };
const tools = ['light.on', 'light.off'].map((name) => ({
  agentName: `lamp__${name}`,
  device,
  tool: { name, description: '', inputSchema: {}, userOnly: false, schemaKnown: true },
  policy: defaultToolPolicy,
  readOnly: undefined,
}));
const deps = { catalogue: { describe: async () => ({ device, tools }) } } as unknown as AgentDeps;
const caller = { viewer: { scopes: ['ADMIN'] }, view: {} } as unknown as AgentCaller;

it.each([
  [{}, ['light.on', 'light.off']],
  [{ tool: '' }, ['light.on', 'light.off']],
  [{ tool: 'light.off' }, ['light.off']],
])('shows the tools that %j asks for', async (wanted, names) => {
  const { structuredContent } = await runFleetTool(deps, caller, 'describe_device', { device: 'lamp', ...wanted });
  expect(structuredContent).toMatchObject({ tools: names.map((name) => ({ name })) });
});

it('says so where the device has no such tool', async () => {
  const answer = await runFleetTool(deps, caller, 'describe_device', { device: 'lamp', tool: 'light.blink' });
  expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('no such tool') }] });
});
