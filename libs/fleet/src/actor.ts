/** On whose behalf something is done. */
import type { AuditSource, DeviceFilter } from '@flotilla/registry';

export interface Actor {
  /**
   * Identifies the caller for rate limits and idempotency keys (`principalRef`); names are not
   * unique.
   */
  readonly id: string;
  /** The person who counts for approvals (kind and id); undefined: the actor itself. */
  readonly owner?: string | undefined;
  /** Key name, user, job or agent, as records show it. */
  readonly name: string;
  /** False where the scope TOOLS_CALL is missing: then jobs may not call tools either. */
  readonly mayCallTools?: boolean;
  /** Whether user-only tools may be called: the device itself does not check. */
  readonly mayCallUserOnly: boolean;
  /** Whether tools may be called that replace what a device runs. */
  readonly mayChangeFirmware: boolean;
  /** Whether this is an administrator of the whole fleet. */
  readonly isAdmin?: boolean | undefined;
  /** False: they may not restart a device, not even one that offers its restart to every client. */
  readonly mayRestart?: boolean | undefined;
  /** The only devices that there are for them; undefined: the whole fleet. */
  readonly devices?: DeviceFilter | undefined;
  /** Where the request came from; undefined where no request did. */
  readonly remoteAddress?: string | undefined;
}

/** Whom approvals compare: a session and all keys of one person have the same owner. */
export function ownerOf({ id, owner }: Pick<Actor, 'id' | 'owner'>): string {
  return owner ?? id;
}

/** The actor as the audit trail names it. */
export function sourceOf({ name, remoteAddress }: Actor): AuditSource {
  return { actor: name, remoteAddress };
}
