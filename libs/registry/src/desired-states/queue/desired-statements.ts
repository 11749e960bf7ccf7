/** The SQL of the worker of desired states, with the types of its parameters and columns. */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { sql, SqlFile } from '../../database/sql-file.js';

const { json, text, uuid } = sql;
const target = { desired_state_id: uuid(), device_id: text<DeviceId>() };

export const WRITE_TARGETS = new SqlFile(new URL('./write-targets.sql', import.meta.url), {
  name: 'desired-write',
  parameters: { rows: json, owner: uuid<HubProcessId>() },
  row: target,
});

export const CLAIM_SETS = new SqlFile(new URL('./claim-sets.sql', import.meta.url), {
  name: 'desired-claim',
  parameters: { rows: json, owner: uuid<HubProcessId>() },
  row: target,
});

export const TAKE_OWNERSHIP = new SqlFile(new URL('./take-ownership.sql', import.meta.url), {
  parameters: { owner: uuid<HubProcessId>() },
  row: { id: uuid() },
});
