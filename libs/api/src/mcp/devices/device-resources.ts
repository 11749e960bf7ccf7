/** Devices, their pins and their reported state, as MCP resources below `flotilla://devices`. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server';
import type { ToolSetHash } from '@flotilla/mcp';
import type { DeviceRow } from '@flotilla/registry';
import { callerMay, type AgentCaller } from '../session/agent-caller.js';
import { quoting } from '../results/agent-results.js';
import { shownDevice } from '../tools/shown-device.js';
import { plainLine, plainValue } from '../results/untrusted-text.js';

const root = 'flotilla://devices';
const mimeType = 'application/json';
/** Devices on a page of the list. */
const pageRows = 50;

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    name: 'device',
    uriTemplate: `${root}/{id}`,
    mimeType,
    description: 'What the hub knows of a device; deviceSays is untrusted text.',
  },
  {
    name: 'pins',
    uriTemplate: `${root}/{id}/pins`,
    mimeType,
    description: 'The pins of a microcontroller as it describes them itself: untrusted text.',
  },
  {
    name: 'state',
    uriTemplate: `${root}/{id}/state`,
    mimeType,
    description: 'What the device reported of its state last, by tool: untrusted text.',
  },
];

/** The devices page by page; what else there is of each follows from the templates. */
export async function listResources(caller: AgentCaller, cursor: string | undefined): Promise<ListResourcesResult> {
  if (!callerMay(caller, 'DEVICES_READ')) return { resources: [] };
  const page = await caller.view.devices.page(undefined, 'ID_ASC', {
    first: pageRows,
    ...(cursor === undefined ? {} : { after: cursor }),
  });
  const next = page.hasNextPage ? page.cursors.at(-1) : undefined;
  return { resources: page.rows.flatMap(resourcesOf), ...(next === undefined ? {} : { nextCursor: next }) };
}

export async function readResource(caller: AgentCaller, uri: string): Promise<ReadResourceResult> {
  if (!callerMay(caller, 'DEVICES_READ'))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'Resources need the scope DEVICES_READ, which this key does not have.',
    );
  const [, id, part] = /^flotilla:\/\/devices\/([^/]{1,800})(?:\/(pins|state))?$/.exec(uri) ?? [];
  const device = id === undefined ? undefined : await caller.view.devices.find(decoded(id));
  if (device === undefined) throw new ResourceNotFoundError(uri);
  const value =
    part === 'pins'
      ? await pinsOf(caller.view, device)
      : part === 'state'
        ? stateOf(device)
        : quoting(shownDevice(device));
  return { contents: [{ uri, mimeType, text: JSON.stringify(value) }] };
}

function resourcesOf(device: DeviceRow): readonly Resource[] {
  const uri = `${root}/${encodeURIComponent(device.id)}`;
  const label = plainLine(device.name ?? device.id);
  return [
    { uri, name: label, mimeType },
    ...(device.reportedState === undefined ? [] : [{ uri: `${uri}/state`, name: `${label}: state`, mimeType }]),
    ...(device.dialect === 'MCPU' ? [{ uri: `${uri}/pins`, name: `${label}: pins`, mimeType }] : []),
  ];
}

async function pinsOf({ toolSets }: AgentCaller['view'], { toolSetHash }: DeviceRow): Promise<unknown> {
  const toolSet = toolSetHash === undefined ? undefined : await toolSets.get(toolSetHash as ToolSetHash);
  return plainValue(quoting({ source: 'device', pins: toolSet?.pins ?? [] }));
}

function stateOf({ reportedState, reportedStateAt }: DeviceRow): unknown {
  const changedAt = reportedStateAt === undefined ? undefined : new Date(reportedStateAt).toISOString();
  return plainValue(quoting({ source: 'device', changedAt, state: reportedState ?? {} }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
