/** The devices of a schedule or of a desired state: a filter that is evaluated again and again. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject } from '@flotilla/mcp';
import type { DeviceFilter } from '@flotilla/registry';
import { errorResult, refusalResult } from '../results/agent-results.js';
import { callerMay, mayCall, type AgentCaller } from '../session/agent-caller.js';
import { selectedDevices } from './device-arguments.js';

/** Without a condition besides the tool, an agent would select the whole fleet by mistake. */
export async function standingDevices(
  caller: AgentCaller,
  args: JsonObject,
): Promise<{ readonly filter: DeviceFilter } | { readonly failure: CallToolResult }> {
  const tool = String(args['tool']);
  if (!mayCall(caller, { name: tool, userOnly: false }) || !callerMay(caller, 'TOOLS_CALL'))
    return { failure: refusalResult({ code: 'TOOL_FORBIDDEN', message: `This key may not call "${tool}".` }) };
  const selected = await selectedDevices(caller, args);
  if ('unknownGroup' in selected)
    return { failure: refusalResult({ code: 'NOT_FOUND', message: selected.unknownGroup }) };
  if (Object.keys(selected.filter).every((condition) => condition === 'hasTool'))
    return {
      failure: errorResult('INVALID: Select devices by ids, search, tags, group or model. Nothing was done.'),
    };
  return { filter: selected.filter };
}

/**
 * The advice beside a preview. After a lost answer an agent repeats its call, and other devices
 * may match by then: what it wanted may exist.
 */
export function nextAfterPreview(
  { noun, listedBy }: { readonly noun: string; readonly listedBy: string },
  devices: number,
  { confirmDevices, idempotencyKey }: JsonObject,
): string {
  const again = `To create the ${noun}, call again with confirmDevices ${devices}.`;
  if (confirmDevices === undefined || idempotencyKey === undefined) return `Nothing was done. ${again}`;
  return (
    `This call did nothing: another number of devices matches now. An earlier call with this key may have created ` +
    `the ${noun}: look with ${listedBy} first. ${again}`
  );
}
