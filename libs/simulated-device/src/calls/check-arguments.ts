/**
 * The firmware's argument checks, property by property in schema order; the first error decides.
 * [xiaozhi §4.5]
 */
import { FirmwareObject, type FirmwareValue } from '../json/firmware-json.js';
import type { SimulatedTool, ToolArguments, ToolProperty } from './tool.js';

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
const NO_ARGUMENTS: ToolArguments = Object.freeze({});

/** A number as the firmware stores it: cut towards zero, clamped to int32. */
export function toInt32(value: number): number {
  return Math.min(Math.max(Math.trunc(value), INT32_MIN), INT32_MAX) + 0;
}

/** Returns arguments for the tool or the error text. A value of the wrong type counts as absent. */
export function checkArguments(
  tool: SimulatedTool,
  given: FirmwareValue | undefined,
): { args: ToolArguments } | { error: string } {
  if (given !== undefined && !(given instanceof FirmwareObject)) return { error: 'Invalid arguments' };
  const properties = Object.entries(tool.properties);
  if (properties.length === 0) return { args: NO_ARGUMENTS };
  const args: Record<string, string | number | boolean> = {};
  for (const [name, property] of properties) {
    const value = valueFor(property, given?.get(name)) ?? property.default;
    if (value === undefined) return { error: `Missing valid argument: ${name}` };
    const problem = rangeProblem(property, value);
    if (problem !== undefined) return { error: problem };
    args[name] = value;
  }
  return { args };
}

function valueFor(property: ToolProperty, given: FirmwareValue | undefined): string | number | boolean | undefined {
  switch (property.type) {
    case 'boolean':
      return typeof given === 'boolean' ? given : undefined;
    case 'integer':
      return typeof given === 'number' ? toInt32(given) : undefined;
    case 'string':
      return typeof given === 'string' ? given : undefined;
  }
}

function rangeProblem(property: ToolProperty, value: string | number | boolean): string | undefined {
  if (property.type !== 'integer' || typeof value !== 'number') return undefined;
  if (property.minimum !== undefined && value < property.minimum)
    return `Value is below minimum allowed: ${property.minimum}`;
  if (property.maximum !== undefined && value > property.maximum)
    return `Value exceeds maximum allowed: ${property.maximum}`;
  return undefined;
}
