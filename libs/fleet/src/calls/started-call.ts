/** A call that has an id and a deadline, and the end that it gets. */
import type { ToolPolicy } from '@flotilla/jobs';
import type { CallId, CallOutcome, DeviceId, ToolSetHash } from '@flotilla/mcp';
import type { Actor } from '../actor.js';
import type { AuditedCallAction } from './call-audit.js';
import type { CallRequest } from './call-request.js';

export interface StartedCall {
  readonly id: CallId;
  readonly deviceId: DeviceId;
  /** The tools that the device has now, or had when it was last online. */
  readonly toolSetHash: ToolSetHash | undefined;
  readonly request: CallRequest;
  readonly actor: Actor;
  /** An address in the arguments that the hub made for this call. */
  readonly ownUrl: string | undefined;
  readonly policy: ToolPolicy;
  readonly timeoutMs: number;
  readonly startedAt: number;
}

export interface CallEnd {
  readonly outcome: CallOutcome;
  /** Undefined for calls that the audit trail does not record. */
  readonly audited?: AuditedCallAction | undefined;
  /** Whether the audit trail has the intent of the call. */
  readonly isIntended?: boolean;
}
