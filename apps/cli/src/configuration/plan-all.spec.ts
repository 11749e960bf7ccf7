import type { FlotillaClient } from '@flotilla/client';
import { expect, it } from 'vitest';
import { toolPolicies } from './kinds/tool-policies.js';
import { planAll } from './plan-all.js';

it('a plan of tool policies writes the most specific pattern first: the readback of others may need it', async () => {
  const page = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
  const hub = { deviceGroups: page, firmwareImages: page, notificationChannels: [], appliedConfigurations: page };
  const client = { request: async () => ({ ...hub, toolPolicies: [] }) } as unknown as FlotillaClient;
  const patterns = ['*', 'self.motor.*', 'self.*', 'self.motor.get_state', 'self.b'];
  const wanted = new Map(patterns.map((pattern) => [pattern, { idempotent: true, disruptive: true }]));
  const changes = await planAll(new Map([['ToolPolicy', wanted]]), [toolPolicies], client);
  expect(changes.map(({ name }) => name)).toEqual(['self.b', 'self.motor.get_state', 'self.motor.*', 'self.*', '*']);
});
