/** What people of each role may do. Each role has what the one before it has. */
import type { Role, Scope } from '@flotilla/registry';

const viewer = ['DEVICES_READ', 'JOBS_READ', 'EVENTS_READ'] as const;
const operator = [...viewer, 'DEVICES_WRITE', 'TOOLS_CALL', 'JOBS_WRITE'] as const;
/** Roll-outs, restarts and snapshots of screens call user-only tools. */
const firmware = [...operator, 'FIRMWARE_WRITE', 'TOOLS_CALL_PRIVILEGED'] as const;

export const roleScopes: Readonly<Record<Role, readonly Scope[]>> = {
  VIEWER: viewer,
  OPERATOR: operator,
  FIRMWARE: firmware,
  /** Every scope. */
  ADMIN: ['ADMIN'],
};
