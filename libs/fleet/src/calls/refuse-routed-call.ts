/**
 * Checks a call from another process again, in the process that holds the session. It applies the
 * same rules to the tools that the device has now. The session itself checks the epoch, the
 * deadlines and the size.
 */
import type { RoutedCall } from '@flotilla/bus';
import { callTimeoutMsMax } from '@flotilla/jobs';
import { clockSkewMsMax } from '@flotilla/mcp';
import type { CallError } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import type { CallRules } from './call-rules.js';

/** Without `toolSet` (tools not listed in this session) only the rules that need no tools apply. */
export function refuseRoutedCall(
  callRules: CallRules,
  { call, rights }: RoutedCall,
  toolSet: ToolSet | undefined,
  now: number,
): CallError | undefined {
  if (call.callTimeoutMs > callTimeoutMsMax)
    return { code: 'ARGUMENTS_INVALID', message: `The call may take longer than ${callTimeoutMsMax} ms.` };
  if (call.queueDeadlineAt - now > callTimeoutMsMax + clockSkewMsMax)
    return {
      code: 'UNAVAILABLE',
      message:
        'The clocks of two processes of the hub differ by more than a minute. Nothing was sent. ' +
        'Try again when the clocks are right.',
    };
  const checked = { tool: call.tool, arguments: call.arguments, mayCallUserOnly: rights.mayCallUserOnly };
  const refusal =
    callRules.refuseActor(call.tool, rights) ??
    (toolSet === undefined
      ? callRules.refuseUrls(checked, rights.ownUrl)
      : callRules.refuse(toolSet, checked, rights.ownUrl));
  if (refusal === undefined) return undefined;
  const { code, message } = refusal.error;
  return { code, message: `${message} The gateway of the device says so.` };
}
