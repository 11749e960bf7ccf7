/** What the mapping knows about a device, and what the key of the bridge may do. */
import type { ToolPolicy } from '@flotilla/jobs';
import type { JsonSchema } from '@flotilla/mcp';

export interface HomeTool {
  readonly name: string;
  readonly inputSchema: JsonSchema;
  readonly userOnly: boolean;
  readonly schemaKnown: boolean;
}

export interface HomeDevice {
  readonly id: string;
  readonly name: string | undefined;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly isOnline: boolean;
  readonly tools: readonly HomeTool[];
  /** The latest result of each status tool, by tool name. */
  readonly reportedState: Readonly<Record<string, unknown>>;
  /** Values that Home Assistant set and no status tool reports, by property. */
  readonly setValues: ReadonlyMap<string, unknown>;
  /** The latest sample of each series of a microcontroller, by name. */
  readonly samples: ReadonlyMap<string, unknown>;
  /** The version of the newest published image for the board. */
  readonly latestVersion: string | undefined;
}

/** What the key of the bridge may do. */
export interface HomeRights {
  readonly mayCall: boolean;
  readonly mayCallUserOnly: boolean;
  readonly mayUpdate: boolean;
}

export interface MappingInput {
  readonly device: HomeDevice;
  readonly rights: HomeRights;
  readonly policyOf: (tool: string) => ToolPolicy;
}
