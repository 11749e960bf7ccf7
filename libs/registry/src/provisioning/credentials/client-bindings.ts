/**
 * Bindings of devices to Client-Ids, each with an audit entry. Other ways to bind are in
 * admit-contacts.ts and approve-enrolment.ts.
 */
import { appendAudit } from '../../audit/append-audit.js';
import type { AuditedChange } from '../../audit/audit-entry.js';
import type { AuditSource } from '../../audit/audit-entry.js';
import type { Queryable } from '../../database/database.js';
import { lockDevice, noteChange } from './issue-credentials.js';

/** What the binding relied on. `token`: a WebSocket connection that had a valid credential. */
export type BoundBy = 'registration' | 'code' | 'link' | 'factory_key' | 'open' | 'first_use' | 'move' | 'token';

/** The hub binds without a person; the address is that of the device. */
export function hubFor(remoteAddress: string | undefined): AuditSource {
  return { actor: 'hub', remoteAddress };
}

export function boundChange(
  deviceId: string,
  by: BoundBy,
  at: number,
  more: Readonly<Record<string, unknown>> = {},
): AuditedChange {
  return { action: 'device.client_bound', subject: `device:${deviceId}`, data: { by, ...more }, at };
}

/** $1 device, $2 hash of its Client-Id, $3 hash of the secret of the connection. */
const BIND = {
  name: 'bind-client-by-token',
  text: `UPDATE device d SET client_uuid_hash = $2 WHERE d.id = $1 AND d.client_uuid_hash IS NULL
           AND EXISTS (SELECT FROM device_credential c WHERE c.device_id = d.id AND c.secret_hash = $3) RETURNING d.id`,
};

/**
 * Binds the first Client-Id with a valid credential. False where another one was bound, or the
 * credential was removed.
 */
export async function bindByToken(
  transaction: Queryable,
  login: {
    readonly deviceId: string;
    readonly clientUuidHash: string;
    readonly secretHash: string;
    readonly remoteAddress: string | undefined;
    readonly at: number;
  },
): Promise<boolean> {
  const { deviceId, clientUuidHash, secretHash, remoteAddress, at } = login;
  await lockDevice(transaction, deviceId);
  const rows = await transaction.query(BIND, [deviceId, clientUuidHash, secretHash]);
  if (rows.length === 0) return false;
  await noteChange(transaction, [deviceId]);
  await appendAudit(transaction, [{ ...boundChange(deviceId, 'token', at), ...hubFor(remoteAddress) }]);
  return true;
}
