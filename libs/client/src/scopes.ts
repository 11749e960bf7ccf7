/** Everything that a key may be allowed, widest last. */
import type { Scope } from './generated/schema-types.js';

/** One name each: the type refuses a list in which one is missing. */
const named: Readonly<Record<Scope, true>> = {
  DEVICES_READ: true,
  DEVICES_WRITE: true,
  TOOLS_CALL: true,
  TOOLS_CALL_PRIVILEGED: true,
  JOBS_READ: true,
  JOBS_WRITE: true,
  FIRMWARE_WRITE: true,
  EVENTS_READ: true,
  ADMIN: true,
};

/** All scopes of the API, in reading order: read before write, `ADMIN` (all of them) last. */
export const scopes = Object.keys(named) as readonly Scope[];
