/** All tools of a device, for every caller: its own, then those of the hub. */
import { findHubTool, hubToolDialect, hubTools } from '@flotilla/mcp';
import type { DeviceRow, StoredTool, ToolSet } from '@flotilla/registry';

const storedHubTools: readonly StoredTool[] = hubTools.map((tool) => ({ ...tool, schemaKnown: true }));

export function toolsOf({ dialect }: Pick<DeviceRow, 'dialect'>, toolSet: ToolSet | undefined): readonly StoredTool[] {
  const own = toolSet?.tools ?? [];
  return dialect === hubToolDialect ? [...own.filter(({ name }) => !findHubTool(name)), ...storedHubTools] : own;
}
