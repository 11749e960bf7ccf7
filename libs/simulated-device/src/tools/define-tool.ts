/** Short forms for writing a tool catalogue down. */
import type { SimulatedTool, ToolProperty } from '../calls/tool.js';

interface ToolText {
  readonly name: string;
  readonly description: string;
  readonly properties?: Readonly<Record<string, ToolProperty>>;
}

/** A tool that every client sees. */
export function regularTool(text: ToolText, run: SimulatedTool['run']): SimulatedTool {
  return { name: text.name, description: text.description, properties: text.properties ?? {}, isUserOnly: false, run };
}

/** A tool that is listed only for `withUserTools`. */
export function userTool(text: ToolText, run: SimulatedTool['run']): SimulatedTool {
  return { ...regularTool(text, run), isUserOnly: true };
}

/** A required integer in a range. */
export function integer(minimum: number, maximum: number): ToolProperty {
  return { type: 'integer', minimum, maximum };
}

/** A required string. */
export const text: ToolProperty = { type: 'string' };
