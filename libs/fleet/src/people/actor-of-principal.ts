/** The rights of a caller, as operations of the fleet ask for them. */
import { principalRef } from '@flotilla/registry';
import type { Principal, Scope } from '@flotilla/registry';
import type { Actor } from '../actor.js';

/** ADMIN is every scope. */
export function hasScope(principal: Pick<Principal, 'scopes'>, scope: Scope): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('ADMIN');
}

export function actorOfPrincipal(principal: Principal, remoteAddress?: string): Actor {
  return {
    id: principalRef(principal),
    owner: principal.owner,
    name: principal.name,
    devices: principal.devices,
    mayCallTools: hasScope(principal, 'TOOLS_CALL'),
    mayCallUserOnly: hasScope(principal, 'TOOLS_CALL_PRIVILEGED'),
    mayChangeFirmware: hasScope(principal, 'FIRMWARE_WRITE'),
    ...(principal.devices === undefined && principal.scopes.includes('ADMIN') && { isAdmin: true }),
    remoteAddress,
  };
}
