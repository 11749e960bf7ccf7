/** A device for the specs of the mapping. */
import { defaultToolPolicy } from '@flotilla/jobs';
import type { ToolPolicy } from '@flotilla/jobs';
import type { HomeDevice, HomeRights, HomeTool, MappingInput } from './home-device.js';

const allRights: HomeRights = { mayCall: true, mayCallUserOnly: true, mayUpdate: true };

export const status = 'self.get_device_status';

/** A tool with these arguments, all of them required. */
export function toolOf(name: string, properties: Readonly<Record<string, unknown>> = {}): HomeTool {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) };
  return { name, inputSchema, userOnly: false, schemaKnown: true };
}

/** The policy of a tool whose value is read back from the status tool. */
export function readAt(path: string, argument: string): ToolPolicy {
  return { ...defaultToolPolicy, readback: { tool: status, path, argument } };
}

export function deviceOf(change: Partial<HomeDevice> = {}): HomeDevice {
  return {
    id: '02:00:00:00:00:01',
    name: 'Kitchen',
    model: 'box',
    firmwareVersion: '2.1.0',
    isOnline: true,
    tools: [],
    reportedState: {},
    setValues: new Map(),
    samples: new Map(),
    latestVersion: undefined,
    ...change,
  };
}

export function inputOf(
  change: Partial<HomeDevice>,
  policies: Readonly<Record<string, ToolPolicy>> = {},
  rights: Partial<HomeRights> = {},
): MappingInput {
  return {
    device: deviceOf(change),
    rights: { ...allRights, ...rights },
    policyOf: (tool) => policies[tool] ?? defaultToolPolicy,
  };
}
