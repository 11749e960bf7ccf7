/** All tools that a device has: its own, then the hub's, whoever asks. */
import { findHubTool, hubToolDialect, hubTools } from '@flotilla/mcp';
import type { DeviceRow, StoredTool, ToolSet } from '@flotilla/registry';

const storedHubTools: readonly StoredTool[] = hubTools.map((tool) => ({ ...tool, schemaKnown: true }));

export function toolsOf({ dialect }: Pick<DeviceRow, 'dialect'>, toolSet: ToolSet | undefined): readonly StoredTool[] {
  const own = toolSet?.tools ?? [];
  return dialect === hubToolDialect ? [...own.filter(({ name }) => !findHubTool(name)), ...storedHubTools] : own;
}
