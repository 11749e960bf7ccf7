/** Tools and tool sets that a device announced. */
import type { DevicePin } from '../mcpu/pins.js';

/** The JSON Schema of a tool's arguments: checked to be an object, otherwise unchanged. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One tool that a device announced. */
export interface DeviceTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** A privileged tool, listed only with `withUserTools`. [xiaozhi §4.4] */
  readonly userOnly: boolean;
  /** The device asks for a call without arguments at this interval, ms. [mcpu §2.7] */
  readonly pollingIntervalMs?: number;
}

/** One parsed page of `tools/list`. Devices that sent the same bytes share one object. */
export interface ToolPage {
  readonly tools: readonly DeviceTool[];
  readonly nextCursor: string | undefined;
  /** The number of invalid entries, if any. */
  readonly droppedEntries?: number;
  /** Set for devices with a pin registry, which list in one page. */
  readonly pins?: readonly DevicePin[];
}

/** All tools that one device announced. `isComplete` is false if the listing ended early. */
export interface DiscoveredTools {
  readonly tools: readonly DeviceTool[];
  readonly isComplete: boolean;
  /** The pages as received, used to find a known tool set by identity. */
  readonly pages: readonly ToolPage[];
  /** Absent for devices without a pin registry. */
  readonly pins?: readonly DevicePin[];
}

/** The identity that the device reports in its answer to `initialize`. Untrusted text. */
export interface DeviceInfo {
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  /** Since the device started, ms, where it reports it. */
  readonly uptimeMs?: number | undefined;
  /** Why it started, where it reports it. */
  readonly resetReason?: string | undefined;
}
