/** The tools of a fleet as one choice per name. */
import type { JobToolChoicesQuery } from '../generated/new-job';

type FormTool = Pick<ToolChoice, 'name' | 'inputSchema' | 'schemaKnown'>;
export type ToolChoice = JobToolChoicesQuery['tools']['nodes'][number];

/**
 * The key of a form for the arguments of a tool. The values in the form are those of the fields of
 * one schema, and the most common schema changes with the devices.
 */
export function formKey({ name, inputSchema, schemaKnown }: FormTool): string {
  return JSON.stringify([name, schemaKnown, inputSchema]);
}

/** One of each name, with the schema that most devices have; the hub checks each device's own. */
export function mostCommon(tools: readonly ToolChoice[]): readonly ToolChoice[] {
  const byName = new Map<string, { readonly most: ToolChoice; readonly deviceCount: number }>();
  for (const tool of tools) {
    const known = byName.get(tool.name);
    const most = known && known.most.deviceCount > tool.deviceCount ? known.most : tool;
    byName.set(tool.name, { most, deviceCount: tool.deviceCount + (known?.deviceCount ?? 0) });
  }
  return [...byName.values()]
    .map(({ most, deviceCount }) => ({ ...most, deviceCount }))
    .sort((one, other) => one.name.localeCompare(other.name));
}
