/**
 * Tools that set a value which the hub can read back, as tool policies say: the properties that
 * desired states can keep, too.
 */
import { isJsonObject, isSecretMember } from '@flotilla/mcp';
import type { Control } from './control.js';
import { controlOf } from './control.js';
import type { ToolWriter } from './entity.js';
import type { HomeTool, MappingInput } from './home-device.js';

interface WritableProperty {
  readonly property: string;
  /** The path as people see it. */
  readonly path: string;
  readonly control: Control;
  readonly writer: ToolWriter;
}

/** The name of a value: the tool that reads it, and the path in its answer. */
export function propertyName(tool: string, path: string): string {
  return `${tool} ${path}`;
}

/** One per property: the first tool of the device that sets it. */
export function writersOf({ device, rights, policyOf }: MappingInput): readonly WritableProperty[] {
  if (!rights.mayCall) return [];
  const found = new Map<string, WritableProperty>();
  for (const tool of device.tools) {
    const { readback } = policyOf(tool.name);
    if (readback === undefined || (tool.userOnly && !rights.mayCallUserOnly)) continue;
    const control = controlFor(tool, readback.argument);
    const property = propertyName(readback.tool, readback.path);
    if (control === undefined || found.has(property)) continue;
    const { argument } = readback;
    const writer: ToolWriter = {
      kind: 'tool',
      tool: tool.name,
      argument,
      property,
      ...(control.isWhole === true && { isWhole: true }),
    };
    found.set(property, { property, path: readback.path, control, writer });
  }
  return [...found.values()];
}

function controlFor({ inputSchema, schemaKnown }: HomeTool, argument: string): Control | undefined {
  const properties = inputSchema['properties'];
  if (!schemaKnown || !isJsonObject(properties) || isSecretMember(argument, argument)) return undefined;
  const required = inputSchema['required'];
  const isAlone = !Array.isArray(required) || required.every((name) => name === argument);
  const schema = Object.hasOwn(properties, argument) ? properties[argument] : undefined;
  return isAlone && isJsonObject(schema) ? controlOf(schema) : undefined;
}
