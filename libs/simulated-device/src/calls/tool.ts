/** A tool of a simulated device: its entry in `tools/list` and its effect on the state. */
import type { DeviceState } from '../device-state.js';
import type { HttpRequest, HttpResponse } from '../connection/http-messages.js';

/**
 * The property forms of the firmware: no description, no enum, no nesting. A default makes a
 * property optional. [xiaozhi §4.4]
 */
export type ToolProperty =
  | { readonly type: 'boolean'; readonly default?: boolean }
  | { readonly type: 'integer'; readonly default?: number; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: 'string'; readonly default?: string };

/** Arguments after the firmware's checks, one for each declared property. */
export type ToolArguments = Readonly<Record<string, string | number | boolean>>;

/**
 * Work that a tool schedules: it runs on the main task before the tool's own reply leaves. [xiaozhi
 * §4.6]
 */
export type DeferredWork =
  | { readonly kind: 'reboot' }
  | { readonly kind: 'upgrade'; readonly url: string }
  | { readonly kind: 'reconfigureWifi' };

/** A request that the tool waits for on its task, and what it answers then. */
export interface ToolExchange {
  readonly exchange: HttpRequest;
  /** `response` is undefined where none came. */
  readonly then: (response: HttpResponse | undefined) => PlainAnswer;
}

type PlainAnswer = boolean | number | string | { readonly error: string };

export type ToolAnswer = PlainAnswer | { readonly deferred: DeferredWork } | ToolExchange;

export interface SimulatedTool {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, ToolProperty>>;
  readonly isUserOnly: boolean;
  run(state: DeviceState, args: ToolArguments, now: number): ToolAnswer;
}

/** The tool's entry in `tools/list`, members in the firmware's order. */
export function toolEntry(tool: SimulatedTool): string {
  const required = Object.keys(tool.properties).filter((name) => tool.properties[name]?.default === undefined);
  const inputSchema = {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(tool.properties).map(([name, property]) => [name, propertySchema(property)]),
    ),
    ...(required.length > 0 && { required }),
  };
  return JSON.stringify({
    name: tool.name,
    description: tool.description,
    inputSchema,
    ...(tool.isUserOnly && { annotations: { audience: ['user'] } }),
  });
}

function propertySchema(property: ToolProperty): Record<string, unknown> {
  return {
    type: property.type,
    ...(property.default !== undefined && { default: property.default }),
    ...(property.type === 'integer' &&
      property.minimum !== undefined && { minimum: property.minimum, maximum: property.maximum }),
  };
}
