/** Who an agent's request comes from, and what that lets it see. */
import { changesFirmware, type Actor } from '@flotilla/fleet';
import type { FleetView, Principal, Scope, StoredTool } from '@flotilla/registry';
import type { Reader } from '../../calls/shown-arguments.js';
import { makeShownLoaders } from '../../loaders.js';
import { actorOf, hasScope, mayCallUserOnly } from '../../api-context.js';

/**
 * Lists all tools (full), the tools that find and call others (compact), or by fleet size
 * (auto).
 */
export type ListingMode = 'auto' | 'full' | 'compact';

export interface AgentCaller {
  readonly viewer: Principal;
  /** What the key sees of the fleet. */
  readonly view: FleetView;
  readonly remoteAddress: string | undefined;
  readonly mode: ListingMode;
  /** The trace of the request: `_meta.traceparent` of a tool call, or the header. */
  readonly trace: string | undefined;
}

export function actorOfCaller(caller: AgentCaller): Actor {
  return actorOf(caller);
}

/** For one answer: its look-ups are read once. */
export function readerOf({ viewer, view }: AgentCaller): Reader {
  return { viewer, loaders: makeShownLoaders(view) };
}

export function callerMay({ viewer }: AgentCaller, scope: Scope): boolean {
  return hasScope(viewer, scope);
}

/** Whether the caller's key opens this tool; TOOLS_CALL besides opens tools at all. */
export function mayCall(
  { viewer }: { readonly viewer: Pick<Principal, 'scopes'> },
  { name, userOnly }: Pick<StoredTool, 'name' | 'userOnly'>,
): boolean {
  return (!userOnly || mayCallUserOnly(viewer)) && (!changesFirmware(name) || hasScope(viewer, 'FIRMWARE_WRITE'));
}

/** The scopes of the viewer that open more tools. In the mode `auto` they decide how many count. */
export function openingScopesOf(viewer: Principal): readonly Scope[] {
  return (['TOOLS_CALL_PRIVILEGED', 'FIRMWARE_WRITE'] as const).filter((scope) => hasScope(viewer, scope));
}
