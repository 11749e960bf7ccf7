/** A process dials a device as long as its lease lives: the row names it, and whoever finds the lease dead takes over. */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import type { Database } from '../database/database.js';
import type { DialStore, DialTarget } from './dial-types.js';
import { RegistryError } from '../registry-error.js';

/** $1: the process that asks; $2: how many devices it may have. */
const TAKE = {
  name: 'take-dialled-devices',
  text: `UPDATE device SET dialer_id = $1 WHERE id IN (
           SELECT d.id FROM device d
           WHERE d.address IS NOT NULL AND d.dialer_id IS DISTINCT FROM $1
             AND NOT EXISTS (SELECT FROM hub_process p WHERE p.id = d.dialer_id AND p.lease_until > now())
           ORDER BY d.id LIMIT greatest(0, $2 - (SELECT count(*) FROM device own WHERE own.dialer_id = $1 AND own.address IS NOT NULL))
           FOR UPDATE SKIP LOCKED)
         AND EXISTS (SELECT FROM hub_process p WHERE p.id = $1 AND p.lease_until > now())`,
};
const MINE = {
  name: 'dialled-devices',
  text: `SELECT p.id AS dialer, d.id, d.address, d.dial_by_admin FROM hub_process p LEFT JOIN device d ON d.dialer_id = p.id AND d.address IS NOT NULL
         WHERE p.id = $1 AND p.lease_until > now() ORDER BY d.id`,
};

export class PgDialStore implements DialStore {
  constructor(private readonly database: Database) {}

  async take(dialer: HubProcessId, max: number): Promise<readonly DialTarget[]> {
    await this.database.query(TAKE, [dialer, max]);
    const rows = await this.database.query<{
      id: string | null;
      address: string | null;
      dial_by_admin: boolean | null;
    }>(MINE, [dialer]);
    if (rows.length === 0)
      throw new RegistryError('DATABASE_REFUSED', 'The lease of this process is over: it dials nothing.');
    return rows.flatMap(({ id, address, dial_by_admin: byAdmin }) =>
      id === null || address === null ? [] : [{ deviceId: id as DeviceId, address, byAdmin: byAdmin === true }],
    );
  }
}
