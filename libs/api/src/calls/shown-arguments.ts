/**
 * The arguments of a call or job for a viewer. Secrets are masked already; arguments of user-only
 * tools are shown only to viewers who may call them.
 */
import { maskAll } from '@flotilla/mcp';
import { mayCallUserOnly, type ApiContext } from '../api-context.js';

interface AskedTool {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export async function shownArguments(
  { tool, arguments: args }: AskedTool,
  { viewer, loaders }: Pick<ApiContext, 'viewer' | 'loaders'>,
): Promise<AskedTool['arguments']> {
  if (mayCallUserOnly(viewer) || Object.keys(args).length === 0) return args;
  return (await loaders.isUserOnly.load(tool)) ? maskAll(args) : args;
}
