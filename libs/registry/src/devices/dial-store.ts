/**
 * The devices that the hub connects to, and which of its processes connects to which. Such a device
 * accepts one connection only. A process keeps a device while its lease lives; another process
 * takes the device over once that lease has ended.
 */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import type { Database } from '../database/database.js';
import { RegistryError } from '../registry-error.js';

export interface DialTarget {
  readonly deviceId: DeviceId;
  /** `host:port`. */
  readonly address: string;
  /** Whether an administrator set the address. */
  readonly byAdmin: boolean;
}

/** $1: the process; $2: the maximum number of devices that it may have. */
const TAKE = {
  name: 'take-dialled-devices',
  text: `UPDATE device SET dialer_id = $1 WHERE id IN (
           SELECT d.id FROM device d
           WHERE d.address IS NOT NULL AND d.dialer_id IS DISTINCT FROM $1
             AND NOT EXISTS (SELECT FROM hub_process p WHERE p.id = d.dialer_id AND p.lease_until > now())
           ORDER BY d.id LIMIT greatest(0, $2 - (
             SELECT count(*) FROM device own WHERE own.dialer_id = $1 AND own.address IS NOT NULL))
           FOR UPDATE SKIP LOCKED)
         AND EXISTS (SELECT FROM hub_process p WHERE p.id = $1 AND p.lease_until > now())`,
};
const MINE = {
  name: 'dialled-devices',
  text: `SELECT p.id AS dialer, d.id, d.address, d.dial_by_admin
         FROM hub_process p LEFT JOIN device d ON d.dialer_id = p.id AND d.address IS NOT NULL
         WHERE p.id = $1 AND p.lease_until > now() ORDER BY d.id`,
};

const RELEASE = {
  name: 'release-dialled-device',
  text: 'UPDATE device SET dialer_id = NULL WHERE id = $2 AND dialer_id = $1',
};

export class DialStore {
  constructor(private readonly database: Database) {}

  /** Lets another process dial the device. */
  async release(dialer: HubProcessId, deviceId: DeviceId): Promise<void> {
    await this.database.query(RELEASE, [dialer, deviceId]);
  }

  /**
   * Takes devices without a living process until `dialer` has `max`, and resolves to all devices
   * that it has then. Throws DATABASE_REFUSED if `dialer` has no living lease.
   */
  async take(dialer: HubProcessId, max: number): Promise<readonly DialTarget[]> {
    await this.database.query(TAKE, [dialer, max]);
    const rows = await this.database.query<{
      id: string | null;
      address: string | null;
      dial_by_admin: boolean | null;
    }>(MINE, [dialer]);
    if (rows.length === 0)
      throw new RegistryError('DATABASE_REFUSED', 'The lease of this process has ended, so it connects to no device.');
    return rows.flatMap(({ id, address, dial_by_admin: byAdmin }) =>
      id === null || address === null ? [] : [{ deviceId: id as DeviceId, address, byAdmin: byAdmin === true }],
    );
  }
}
