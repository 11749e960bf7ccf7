/** The scopes that a person can give to an agent. */
import type { Role, Scope } from '@flotilla/registry';
import { hasScope } from '../people/actor-of-principal.js';
import { roleScopes } from '../people/role-scopes.js';

/** Those that do something at `/mcp`. Agents cannot administer the hub. */
export const agentScopes = [
  'DEVICES_READ',
  'TOOLS_CALL',
  'JOBS_READ',
  'JOBS_WRITE',
  'EVENTS_READ',
  'DEVICES_WRITE',
  'TOOLS_CALL_PRIVILEGED',
  'FIRMWARE_WRITE',
] as const satisfies readonly Scope[];

/** What a client receives that asks for no scope: to find devices, call tools and read alerts. */
export const usualAgentScopes = [
  'DEVICES_READ',
  'TOOLS_CALL',
  'JOBS_READ',
  'JOBS_WRITE',
  'EVENTS_READ',
] as const satisfies readonly Scope[];

/** The scopes of `asked` that exist for agents and that the role has. */
export function grantableScopes(asked: readonly string[], role: Role): readonly Scope[] {
  const holder = { scopes: roleScopes[role] };
  return agentScopes.filter((scope) => asked.includes(scope) && hasScope(holder, scope));
}
