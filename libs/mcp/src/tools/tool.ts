/** Tools and tool sets: what a device has announced that it can do. */
import type { DevicePin } from '../mcpu/pins.js';

/** JSON Schema of a tool's arguments, as the device sent it (checked to be an object, otherwise untouched). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One callable that a device announced. */
export interface DeviceTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Listed only for `withUserTools`: privileged. [xiaozhi §4.4] */
  readonly userOnly: boolean;
  /** The device asks to be called that often without arguments, ms. [mcpu §2.7] */
  readonly pollingIntervalMs?: number;
}

/** One page of `tools/list`, parsed. The same object is shared by all devices that sent the same bytes. */
export interface ToolPage {
  readonly tools: readonly DeviceTool[];
  readonly nextCursor: string | undefined;
  /** Entries that no tool could be made of; absent means none. */
  readonly droppedEntries?: number;
  /** Of devices that have a pin registry; they list in one page. */
  readonly pins?: readonly DevicePin[];
}

/** All that one device announced. `isComplete` is false where the listing ended early and these are the tools up to there. */
export interface DiscoveredTools {
  readonly tools: readonly DeviceTool[];
  readonly isComplete: boolean;
  /** The pages as received, for looking up an already known tool set by identity. */
  readonly pages: readonly ToolPage[];
  /** Absent for devices without a pin registry. */
  readonly pins?: readonly DevicePin[];
}

/** Who the device says it is in its answer to `initialize`. Untrusted text. */
export interface DeviceInfo {
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
}
