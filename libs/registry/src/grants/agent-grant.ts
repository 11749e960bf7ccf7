/** Agents that people connected over OAuth, as callers of the store see them. */
import { z } from 'zod';
import type { DeviceFilter } from '../device-filter.js';
import { plainRow } from '../database/plain-row.js';
import type { AgentGrant } from '../generated/prisma/client.js';
import { SCOPES } from '../keys/api-key.js';
import type { Role } from '../people/user.js';
import type { Scope } from '../registry.js';

const scopesOf = z.array(z.enum(SCOPES)).readonly();

/** What a client may do in the name of a person. Times are ms since the Unix epoch. */
export interface AgentGrantRow {
  readonly id: string;
  readonly userId: string;
  /** The id of a registered client, or the address of its metadata document. */
  readonly clientId: string;
  /** The client chose it: it proves nothing. */
  readonly clientName: string;
  /** The host to which the person was sent back, which proves where the client is. */
  readonly clientHost: string;
  readonly scopes: readonly Scope[];
  /** The devices that the agent can see; undefined: the whole fleet. */
  readonly devices: DeviceFilter | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Exact to the minute. */
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

/** With the person, as lists show it. */
export interface ListedGrant extends AgentGrantRow {
  readonly userName: string;
  readonly userEmail: string | undefined;
}

export type NewAgentGrant = Pick<
  AgentGrantRow,
  'userId' | 'clientId' | 'clientName' | 'clientHost' | 'scopes' | 'devices' | 'expiresAt'
>;

/** The holder of an access token, with the role that the person has now. */
export interface TokenHolder {
  readonly grantId: string;
  readonly clientName: string;
  /** Of the token: at most those of the grant. */
  readonly scopes: readonly Scope[];
  /** Of the grant: a new token can have them if the person has them. */
  readonly granted: readonly Scope[];
  readonly devices: DeviceFilter | undefined;
  /** The resource for which the token was issued. */
  readonly audience: string;
  readonly user: { readonly id: string; readonly email: string | undefined; readonly role: Role };
}

/**
 * Of the token of an open request. `running`: the hub has received all of it, and the token may
 * have expired since then.
 */
export type OpenCheck = 'watched' | 'running';

export function toGrant({ devices, scopes, ...record }: AgentGrant): AgentGrantRow {
  return {
    ...plainRow(record),
    scopes: scopesOf.parse(scopes),
    devices: (devices ?? undefined) as DeviceFilter | undefined,
  };
}

/** Names of scopes that this version does not know are left out. */
export function knownScopes(text: string): readonly Scope[] {
  const named = new Set(text.split(' '));
  return SCOPES.filter((scope) => named.has(scope));
}
