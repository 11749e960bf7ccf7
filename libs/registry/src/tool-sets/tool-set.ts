import type { DevicePin, DeviceTool, ToolSetHash } from '@flotilla/mcp';

/** All tools of a device. Stored once per content, under its hash; never changes. */
export interface ToolSet {
  readonly hash: ToolSetHash;
  readonly tools: readonly StoredTool[];
  /** Pins of a microcontroller. */
  readonly pins?: readonly DevicePin[];
}

export interface StoredTool extends DeviceTool {
  /** False if the input schema of the device could not be converted. */
  readonly schemaKnown: boolean;
}
