/**
 * The arguments of a call, job or desired state for a viewer: secrets are masked, and arguments of
 * user-only tools are shown only to viewers who may call them.
 */
import { maskAll, maskArguments } from '@flotilla/mcp';
import type { Principal } from '@flotilla/registry';
import { mayCallUserOnly } from '../api-context.js';
import type { ShownLoaders } from '../loaders.js';

interface AskedTool {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Who reads, and what decides what they see: a GraphQL operation has it in its context. */
export interface Reader {
  readonly viewer: Principal;
  readonly loaders: ShownLoaders;
}

export async function shownArguments(
  { tool, arguments: args }: AskedTool,
  { viewer, loaders }: Reader,
): Promise<AskedTool['arguments']> {
  if (mayCallUserOnly(viewer) || Object.keys(args).length === 0) return maskArguments(tool, args);
  return (await loaders.isUserOnly.load(tool)) ? maskAll(args) : maskArguments(tool, args);
}
