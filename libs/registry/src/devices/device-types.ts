import type { DeviceId, DevicePin, DeviceTool, HubProcessId, ToolSetHash } from '@flotilla/mcp';
import type { AuditSource } from '../audit/audit-entry.js';
import type { DeviceFilter, Dialect, Presence, Reachability, TransportKind } from '../device-filter.js';
import type { Page, PageRequest } from '../page.js';

/** A device as lists and pages show it. Times are ms since the Unix epoch. */
export interface DeviceRow {
  readonly id: DeviceId;
  readonly name: string | undefined;
  readonly dialect: Dialect;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  /** ONLINE only while the named gateway's lease is alive: right after a crash, too. */
  readonly presence: Presence;
  readonly reachability: Reachability;
  readonly transport: TransportKind | undefined;
  readonly connectedAt: number | undefined;
  readonly lastSeenAt: number | undefined;
  readonly tags: readonly string[];
  /** IANA zone of its clock where it has one of its own: else its groups, or the hub's settings, decide. */
  readonly timeZone: string | undefined;
  /** Voice servers of its own, in order of preference. */
  readonly voiceUrls: readonly string[];
  readonly toolSetHash: ToolSetHash | undefined;
  readonly toolsDiscoveredAt: number | undefined;
  readonly toolsStale: boolean;
  /** The newest answer of each of its status tools, by tool name. */
  readonly reportedState: Readonly<Record<string, unknown>> | undefined;
  /** When that last changed. */
  readonly reportedStateAt: number | undefined;
  readonly epoch: number;
}

/** A connection, and what its greeting told where that came first: one write then does for both. */
export interface ConnectingDevice {
  readonly deviceId: DeviceId;
  readonly dialect: Dialect;
  readonly transport: TransportKind;
  readonly reachability: Reachability;
  readonly remoteAddress: string | undefined;
  readonly connectedAt: number;
  readonly ready?: ReadyFacts | undefined;
}

export interface OpenedSession {
  /** Number of the connection. */
  readonly epoch: number;
  /** Where the session was ready. */
  readonly ready: ReadyResult | undefined;
}

/** What a ready session replaced. Not current is one that has ended, is not its device's newest, or whose device was removed. */
export interface ReadyResult {
  readonly isCurrent: boolean;
  readonly previousToolSetHash: ToolSetHash | undefined;
  readonly previousFirmwareVersion: string | undefined;
}

/** What a status tool answered. */
export interface ReportedState {
  readonly deviceId: DeviceId;
  /** A report of an older session changes nothing. */
  readonly epoch: number;
  readonly tool: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** What the device had reported by the same tool before; `state` is undefined the first time. */
export interface FormerState {
  readonly isCurrent: boolean;
  readonly state: Readonly<Record<string, unknown>> | undefined;
}

/** What the greeting and the listing told. */
export interface ReadyFacts {
  readonly gatewayId: HubProcessId;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  /** Absent where the listing failed: the device keeps its last good tool set, marked stale. */
  readonly toolSetHash: ToolSetHash | undefined;
  readonly toolsComplete: boolean;
  readonly at: number;
}

/** Written when the session becomes ready, and again when the tools change. */
export interface ReadySession extends ReadyFacts {
  readonly deviceId: DeviceId;
  readonly epoch: number;
}

export interface ClosedSession {
  readonly deviceId: DeviceId;
  readonly epoch: number;
  readonly reason: string;
  readonly at: number;
}

/** What is not given stays; a null is taken away. */
export interface DeviceChange {
  readonly name?: string | null;
  readonly tags?: readonly string[];
  /** IANA name. */
  readonly timeZone?: string | null;
  /** Empty takes them away. */
  readonly voiceUrls?: readonly string[];
}

export interface TagChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Tags that one device may have. */
  readonly tagsMax: number;
}

/** The devices that changed, or one that has no room for more tags. */
export type TagResult =
  { readonly kind: 'changed'; readonly ids: readonly DeviceId[] } | { readonly kind: 'full'; readonly id: DeviceId };

/** Devices without the value come last. */
export type DeviceOrder = 'ID_ASC' | 'NAME_ASC' | 'LAST_SEEN_DESC';

export interface SessionRow {
  readonly epoch: number;
  readonly transport: TransportKind;
  readonly remoteAddress: string | undefined;
  readonly connectedAt: number;
  readonly disconnectedAt: number | undefined;
  readonly closeReason: string | undefined;
  readonly firmwareVersion: string | undefined;
}

export interface ToolSetUseRow {
  readonly hash: ToolSetHash;
  readonly firmwareVersion: string | undefined;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/**
 * Devices and their sessions. The three writes of a session's life are gathered and written set-based, many devices in one statement; they resolve
 * when committed. A write of an older epoch changes nothing.
 */
export interface DeviceStore {
  /** Makes the device if it is new, raises its epoch, opens the session row; with `ready` it does what `ready` does as well. */
  connecting(device: ConnectingDevice): Promise<OpenedSession>;
  /** The session is greeted: presence ONLINE, tool set pointer, model and version. Resolves to whether it was still the newest epoch, and the tool set the device pointed to before. */
  ready(session: ReadySession): Promise<ReadyResult>;
  /** The session ended: presence OFFLINE if it was the newest. Resolves to whether it was. */
  closed(session: ClosedSession): Promise<boolean>;
  /** Keeps what the device reports of its state, where it differs from what is kept; resolves to what was. */
  report(report: ReportedState): Promise<FormerState>;
  find(id: string): Promise<DeviceRow | undefined>;
  /** In the order of the input; undefined where there is no such device. */
  findMany(ids: readonly string[]): Promise<readonly (DeviceRow | undefined)[]>;
  page(filter: DeviceFilter | undefined, order: DeviceOrder, page: PageRequest): Promise<Page<DeviceRow>>;
  /** Exact up to 10,000, then undefined. */
  count(filter: DeviceFilter | undefined): Promise<number | undefined>;
  /** The newest sessions of each, newest first, in the order of the input; those from its start on (ms since the Unix epoch), where one is given. */
  sessions(
    ids: readonly string[],
    first: number,
    starts?: readonly number[],
  ): Promise<readonly (readonly SessionRow[])[]>;
  /** The newest tool sets of each, newest first, in the order of the input; those first seen from its start on, where one is given. */
  toolSetHistory(
    ids: readonly string[],
    first: number,
    starts?: readonly number[],
  ): Promise<readonly (readonly ToolSetUseRow[])[]>;
  /** Name, tags and time zone. Undefined where there is no such device. */
  update(id: string, change: DeviceChange, by?: AuditSource): Promise<DeviceRow | undefined>;
  /**
   * Adds and removes tags on all that match, or changes nothing where a device would come to have more than `tagsMax`. What is both added and removed
   * is removed.
   */
  tag(filter: DeviceFilter, change: TagChange, by?: AuditSource): Promise<TagResult>;
}

/** A distinct tool over the fleet. */
export interface FleetToolRow {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly schemaHash: string;
  readonly userOnly: boolean;
  readonly deviceCount: number;
}

export interface ToolFilter {
  readonly name?: string;
  readonly search?: string;
  readonly userOnly?: boolean;
  readonly devices?: DeviceFilter;
}

/** A stored tool set. `schemaKnown` is false where the device's schema does not convert. */
export interface ToolSet {
  readonly hash: ToolSetHash;
  readonly tools: readonly StoredTool[];
  /** Of a microcontroller; absent means none. */
  readonly pins?: readonly DevicePin[];
}

export interface StoredTool extends DeviceTool {
  readonly schemaKnown: boolean;
}

/** Content-addressed tool sets: immutable once written. */
export interface ToolSetStore {
  /** Writes the set and its tools unless known; cheap when this process has seen the hash. */
  ensure(toolSet: ToolSet): Promise<void>;
  /** From memory where seen before (bounded); sets never change. */
  get(hash: ToolSetHash): Promise<ToolSet | undefined>;
  getMany(hashes: readonly ToolSetHash[]): Promise<ReadonlyMap<ToolSetHash, ToolSet>>;
  /** Those of the names that a tool for users only has, on any firmware that was ever seen. */
  userOnlyAmong(names: readonly string[]): Promise<ReadonlySet<string>>;
  /** Distinct tools (name and schema) over the fleet, by name. */
  fleetTools(filter: ToolFilter | undefined, page: PageRequest): Promise<Page<FleetToolRow>>;
}
