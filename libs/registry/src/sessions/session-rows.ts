/** The newest sessions of many devices, read with one statement. */
import type { TransportKind } from '@flotilla/mcp';
import type { Database } from '../database/database.js';
import { grouped } from '../database/grouped.js';

/** Times are ms since the Unix epoch. */
export interface SessionRow {
  readonly epoch: number;
  readonly transport: TransportKind;
  readonly remoteAddress: string | undefined;
  readonly connectedAt: number;
  readonly disconnectedAt: number | undefined;
  readonly closeReason: string | undefined;
  readonly firmwareVersion: string | undefined;
}

interface SessionRecord {
  readonly device_id: string;
  readonly epoch: number;
  readonly transport: TransportKind;
  readonly remote_address: string | null;
  readonly connected_at: Date;
  readonly disconnected_at: Date | null;
  readonly close_reason: string | null;
  readonly firmware_version: string | null;
}

/**
 * Newest first, in the order of `deviceIds`. `starts` gives the earliest session to return, per
 * device.
 */
export async function readSessions(
  database: Database,
  deviceIds: readonly string[],
  first: number,
  starts?: readonly number[],
): Promise<readonly (readonly SessionRow[])[]> {
  const isBounded = starts !== undefined;
  const wanted = isBounded ? 'unnest($1::text[], $3::timestamptz[]) AS w(id, since)' : 'unnest($1::text[]) AS w(id)';
  const records = await database.query<SessionRecord>(
    {
      name: `sessions-of-devices${isBounded ? '-since' : ''}`,
      text: `SELECT s.* FROM ${wanted} CROSS JOIN LATERAL (
               SELECT s.device_id, s.epoch, s.transport, s.remote_address, s.connected_at, s.disconnected_at,
                 s.close_reason, s.firmware_version
               FROM session s WHERE s.device_id = w.id ${isBounded ? 'AND s.connected_at >= w.since' : ''}
               ORDER BY s.epoch DESC LIMIT $2) s
             ORDER BY s.device_id, s.epoch DESC`,
    },
    [deviceIds, first, ...(isBounded ? [starts.map((at) => new Date(at))] : [])],
  );
  return grouped(deviceIds, records, (record) => record.device_id).map((sessions) => sessions.map(toSession));
}

function toSession(record: SessionRecord): SessionRow {
  return {
    epoch: record.epoch,
    transport: record.transport,
    remoteAddress: record.remote_address ?? undefined,
    connectedAt: record.connected_at.getTime(),
    disconnectedAt: record.disconnected_at?.getTime(),
    closeReason: record.close_reason ?? undefined,
    firmwareVersion: record.firmware_version ?? undefined,
  };
}
