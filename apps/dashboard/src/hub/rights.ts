/** What a viewer may do, by scopes and the limit of a key: pages hide what the hub refuses. */
import type { Scope, Viewer } from './session';

export type Rights = Pick<Viewer, 'scopes' | 'devices'>;

/** ADMIN is every scope. What needs ADMIN itself affects the whole fleet: not for a limited key. */
export function hasScope({ scopes, devices }: Rights, scope: Scope): boolean {
  if (scope === 'ADMIN') return scopes.includes('ADMIN') && !isLimited({ devices });
  return scopes.includes(scope) || scopes.includes('ADMIN');
}

/** Whether this is a key that is limited to some devices. People and other keys have no limit. */
export function isLimited({ devices }: Pick<Rights, 'devices'>): boolean {
  return devices !== null;
}

/** For what affects the whole fleet, such as device groups: the hub refuses it to a limited key. */
export function hasFleetScope(viewer: Rights, scope: Scope): boolean {
  return hasScope(viewer, scope) && !isLimited(viewer);
}

/** Undefined until the hub has said it to a limited key. Other viewers need only the scope. */
export function maySteerJob(viewer: Rights, said: boolean | undefined): boolean | undefined {
  return said ?? (hasFleetScope(viewer, 'JOBS_WRITE') || undefined);
}

/** To start jobs that call a tool, and see them. */
export function mayCallInJobs(viewer: Rights): boolean {
  return hasScopes(viewer, ['JOBS_READ', 'JOBS_WRITE', 'TOOLS_CALL']);
}

/** The same for jobs that bring an image to devices. Their tools are for users only. */
export function mayRollOut(viewer: Rights): boolean {
  return hasScopes(viewer, ['JOBS_READ', 'JOBS_WRITE', 'FIRMWARE_WRITE', 'TOOLS_CALL_PRIVILEGED']);
}

/** Jobs of either kind. */
export function mayStartJobs(viewer: Rights): boolean {
  return mayCallInJobs(viewer) || mayRollOut(viewer);
}

function hasScopes(viewer: Rights, scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => hasScope(viewer, scope));
}
