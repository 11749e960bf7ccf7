/**
 * Checks a call that another process of the hub made, in the process that holds the device's session: by the rules that the other process should have
 * applied, and by the tools that the device has now. The session itself checks its epoch, the deadlines and the size of the request.
 */
import type { RoutedCall } from '@flotilla/bus';
import { callTimeoutMsMax } from '@flotilla/jobs';
import type { CallError } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import type { ToolGate } from './tool-gate.js';

/** How far the clocks of two processes may differ, ms. */
const clockSkewMs = 60_000;

/** `toolSet`: undefined where the device has not listed its tools in this session. Then only the rules that need no tools apply. */
export function refuseRoutedCall(
  gate: ToolGate,
  { call, rights }: RoutedCall,
  toolSet: ToolSet | undefined,
  now: number,
): CallError | undefined {
  if (call.callTimeoutMs > callTimeoutMsMax || call.queueDeadlineAt - now > callTimeoutMsMax + clockSkewMs)
    return {
      code: 'ARGUMENTS_INVALID',
      message: `The deadline of the call is further away than ${callTimeoutMsMax} ms.`,
    };
  const gated = { tool: call.tool, arguments: call.arguments, mayCallUserOnly: rights.mayCallUserOnly };
  const refusal =
    gate.refuseActor(call.tool, rights) ??
    (toolSet === undefined ? gate.refuseUrls(gated, rights.ownUrl) : gate.refuse(toolSet, gated, rights.ownUrl));
  if (refusal === undefined) return undefined;
  const { code, message } = refusal.error;
  return { code, message: `${message} The gateway of the device says so.` };
}
