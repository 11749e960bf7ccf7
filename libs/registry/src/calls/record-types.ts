import type { CallError, CallId, CallOutcome, DeviceId, HubProcessId, JobId, ToolResult } from '@flotilla/mcp';
import type { TargetOutcome } from '@flotilla/jobs';
import type { DeviceFilter } from '../device-filter.js';
import type { Page, PageRequest } from '../page.js';

/** An event on its way to its table. `id` is a UUIDv7 whose time is `at` (ms since the Unix epoch). */
export interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly deviceId: DeviceId | undefined;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventFilter {
  readonly deviceId?: string;
  readonly types?: readonly string[];
  readonly since?: number;
  readonly until?: number;
  /** Only of these devices. */
  readonly within?: DeviceFilter;
}

export interface EventStore {
  /** Hands the event to the writer; never waits. When PostgreSQL is away it spills to a bounded file and past that is dropped and counted. */
  append(event: Omit<EventRow, 'id'>): EventRow;
  page(filter: EventFilter, order: 'AT_ASC' | 'AT_DESC', page: PageRequest): Promise<Page<EventRow>>;
  /** A page for each device, latest first, in the order of the input. */
  pagesOf(
    deviceIds: readonly string[],
    page: PageRequest,
    starts?: readonly number[],
  ): Promise<readonly Page<EventRow>[]>;
  /** The cursor that `page` gives this event, for one that came from the feed. */
  cursorOf(event: Pick<EventRow, 'id' | 'at'>): string;
  /** The one listener hears of every write of this process after which webhooks are owed something. It may not throw. */
  whenOwed(listener: () => void): void;
}

/** A finished single call. */
export interface CallRecord {
  readonly id: CallId;
  readonly deviceId: DeviceId;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly outcome: CallOutcome;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly actor: string;
}

/** A call as it is read: a single call, or a job's target, which is its own call record. */
export interface CallRow {
  readonly id: string;
  readonly deviceId: DeviceId;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Undefined while it runs. */
  readonly outcome: TargetOutcome | 'NOT_SENT' | undefined;
  readonly result: ToolResult | undefined;
  readonly error: CallError | undefined;
  readonly startedAt: number;
  readonly durationMs: number | undefined;
  readonly actor: string;
  readonly jobId: JobId | undefined;
}

export interface CallFilter {
  readonly deviceId?: string;
  readonly tool?: string;
  readonly outcomes?: readonly (TargetOutcome | 'NOT_SENT')[];
  readonly since?: number;
  readonly until?: number;
  readonly jobId?: string;
  /** Only of these devices. */
  readonly within?: DeviceFilter;
}

export type KeyClaimed =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'repeat'; readonly call: CallRow; readonly processId?: HubProcessId | undefined }
  | { readonly kind: 'conflict' };

export interface CallStore {
  /** Resolves when the record is committed (group commit). `isOverloaded` says when to stop starting calls. */
  record(record: CallRecord): Promise<void>;
  /** True while the writer is full, or PostgreSQL has taken none of its rows for seconds: callers answer OVERLOADED instead of sending. */
  readonly isOverloaded: boolean;
  /**
   * Claims an idempotency key of a principal before the call is sent. `claimed`: go on. `repeat`: the same request was made before; its call (undefined
   * outcome: no end is on record yet, and `processId` names the process that makes the call). `conflict`: the key was used for another request.
   */
  claimKey(claim: {
    /** Whose key it is (`principalRef`). */
    readonly principal: string;
    /** As the record of the call shows them. */
    readonly actor: string;
    readonly key: string;
    readonly requestHash: string;
    readonly callId: CallId;
    readonly deviceId: DeviceId;
    readonly tool: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly startedAt: number;
  }): Promise<KeyClaimed>;
  find(id: string): Promise<CallRow | undefined>;
  /** Latest first; calls of jobs included. */
  page(filter: CallFilter, page: PageRequest): Promise<Page<CallRow>>;
  /** A page for each device, latest first, in the order of the input. */
  pagesOf(
    deviceIds: readonly string[],
    page: PageRequest,
    starts?: readonly number[],
  ): Promise<readonly Page<CallRow>[]>;
}
