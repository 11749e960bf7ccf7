/** The arguments of a call or job as a viewer may see them. Secrets are masked before; those of tools for users only are shown to viewers who may call these. */
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
