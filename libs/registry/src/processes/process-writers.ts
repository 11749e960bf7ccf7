/**
 * The writers of all processes of the hub. Each process stores them with the renewals of its lease.
 */
import type { HubProcessId } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import { toJson } from '../database/json-rows.js';
import type { WriterStatus } from '../registry.js';

/** A living process, and its writers that are behind or have lost rows. */
export interface ProcessWriters {
  readonly id: HubProcessId;
  readonly host: string;
  readonly pid: number;
  readonly writers: readonly Pick<WriterStatus, 'name' | 'lagMs' | 'droppedTotal'>[];
}

/** A writer gathers rows for less time than this, ms. */
const BEHIND_MS = 1_000;

const LIST = {
  name: 'process-writers',
  text: `SELECT id, host, pid, writers FROM hub_process WHERE lease_until > now() ORDER BY id`,
};

/** As JSON for the row of the process. */
export function storedWriters(writers: readonly WriterStatus[]): string {
  const noted = writers.filter(({ lagMs, droppedTotal }) => lagMs > BEHIND_MS || droppedTotal > 0);
  return toJson(noted.map(({ name, lagMs, droppedTotal }) => ({ name, lagMs: Math.round(lagMs), droppedTotal })));
}

export function listProcessWriters(database: Queryable): Promise<readonly ProcessWriters[]> {
  return database.query<ProcessWriters & Record<string, unknown>>(LIST, []);
}
