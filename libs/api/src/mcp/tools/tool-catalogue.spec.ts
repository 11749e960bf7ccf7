import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Principal, Scope } from '@flotilla/registry';
import { openApi, tool, type OpenApi } from '../../mount/mounted-api.suite.js';
import { openingScopesOf, type AgentCaller } from '../session/agent-caller.js';
import { ToolCatalogue } from './tool-catalogue.js';

let api: OpenApi;

beforeAll(async () => {
  api = await openApi();
  const userOnly = Array.from({ length: 100 }, (_, index) => tool(`secret_${index}`, true));
  await api.addDevice('board', [tool('open'), ...userOnly]);
});
afterAll(() => api.close());

it.each<[readonly Scope[], boolean]>([
  [['TOOLS_CALL'], false],
  [['TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED'], true],
  [['ADMIN'], true],
])('a caller with %j has a listing with a fingerprint exactly while it is not compact', async (scopes, isCompact) => {
  const catalogue = new ToolCatalogue(api.registry);
  const viewer: Principal = { kind: 'KEY', id: 'agent', name: 'agent', scopes };
  const caller = { viewer, view: api.registry, mode: 'auto' } as unknown as AgentCaller;
  expect(await catalogue.isCompact(caller)).toBe(isCompact);
  expect((await catalogue.fingerprint(openingScopesOf(viewer))) === undefined).toBe(isCompact);
});
