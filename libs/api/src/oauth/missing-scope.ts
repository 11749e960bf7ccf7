/**
 * Which scope a request of an agent needs besides those of its token. A client then asks the person
 * for more; API keys get a refusal as the result of the call. [MCP Authorization, Scope Challenge]
 */
import { usualAgentScopes } from '@flotilla/fleet';
import { isJsonObject } from '@flotilla/mcp';
import type { Principal, Scope } from '@flotilla/registry';
import { hasScope } from '../api-context.js';
import { alertTools, isAlertTool } from '../mcp/tools/alert-tools.js';
import { fleetTools, isFleetTool } from '../mcp/tools/fleet-tools.js';

/** The scopes to ask for; undefined where the token suffices. `body` is the JSON-RPC message. */
export function scopesToAskFor(viewer: Principal, body: string): readonly Scope[] | undefined {
  if (viewer.kind !== 'GRANT') return undefined;
  const needed = neededScope(body);
  if (needed === undefined || hasScope(viewer, needed)) return undefined;
  return [...new Set([...usualAgentScopes.filter((scope) => hasScope(viewer, scope)), ...viewer.scopes, needed])];
}

function neededScope(body: string): Scope | undefined {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isJsonObject(message)) return undefined;
  const { method, params } = message;
  if (method === 'resources/read') return 'DEVICES_READ';
  if (method !== 'tools/call' || !isJsonObject(params) || typeof params['name'] !== 'string') return undefined;
  const { name } = params;
  if (isAlertTool(name)) return alertTools[name].scope;
  return isFleetTool(name) ? fleetTools[name].scope : 'TOOLS_CALL';
}
