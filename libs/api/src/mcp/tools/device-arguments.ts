/** The arguments by which an agent selects devices, and the filter that they mean. */
import type { DeviceFilter, DeviceGroupRow, FleetView } from '@flotilla/registry';
import type { JsonObject } from '@flotilla/mcp';
import { plainLine } from '../results/untrusted-text.js';
import { callerMay, type AgentCaller } from '../session/agent-caller.js';

const text = (description: string) => ({ type: 'string', description });

/** The properties of the input schemas. */
export const deviceArguments = {
  search: text('Part of the id or the name, without regard to case.'),
  tags: { type: 'array', items: { type: 'string' }, maxItems: 50, description: 'Tags that a device has, all of them.' },
  group: text('The name or id of a device group.'),
  model: text('The exact model, as deviceSays shows it.'),
  tool: text('Only devices that have this tool, by the name that the device gave it.'),
  presence: { type: 'string', enum: ['ONLINE', 'OFFLINE'], description: 'Only devices that are this now.' },
};

/** Groups read with one statement, and at most, to find one by its name. */
const groupPageRows = 500;
const groupPagesMax = 20;
/** Ids that a preview shows. */
const sampleMax = 20;
/** Groups that an error names. */
const namedGroupsMax = 20;

/** What the caller selected; `unknownGroup` is a message about a group that it does not see. */
export type SelectedDevices =
  { readonly filter: DeviceFilter; readonly group?: DeviceGroupRow | undefined } | { readonly unknownGroup: string };

/** Empty texts and lists mean the same as leaving out: models like to fill everything in. */
export async function selectedDevices(caller: AgentCaller, args: JsonObject): Promise<SelectedDevices> {
  const { tags, ids, presence } = args;
  const [search, model, tool, named] = ['search', 'model', 'tool', 'group'].map((name) => textIn(args, name));
  const found = named === undefined ? undefined : await findGroup(caller.view.deviceGroups, named);
  if (found !== undefined && !('id' in found)) {
    const others = callerMay(caller, 'DEVICES_READ') ? found.others : undefined;
    return { unknownGroup: unknownGroup(named, others) };
  }
  const filter: DeviceFilter = {
    ...(search !== undefined && { search }),
    ...(model !== undefined && { model }),
    ...(tool !== undefined && { hasTool: tool }),
    ...(found !== undefined && { groupId: found.id }),
    ...(isTexts(tags) && { tags }),
    ...(isTexts(ids) && { ids }),
    ...(presence === 'ONLINE' || presence === 'OFFLINE' ? { presence } : {}),
  };
  return { filter, group: found };
}

/** By id, then by the exact name, then without regard to case. */
async function findGroup(
  groups: FleetView['deviceGroups'],
  named: string,
): Promise<DeviceGroupRow | { readonly others: readonly string[] }> {
  const [byId] = await groups.findMany([named]);
  if (byId !== undefined) return byId;
  const names: string[] = [];
  let similar: DeviceGroupRow | undefined;
  let after: string | undefined;
  for (let pages = 0; pages < groupPagesMax; pages += 1) {
    const page = await groups.page({ first: groupPageRows, ...(after === undefined ? {} : { after }) });
    const exact = page.rows.find(({ name }) => name === named);
    if (exact !== undefined) return exact;
    similar ??= page.rows.find(({ name }) => name.toLowerCase() === named.toLowerCase());
    names.push(...page.rows.slice(0, namedGroupsMax - names.length).map(({ name }) => name));
    after = page.cursors.at(-1);
    if (!page.hasNextPage) break;
  }
  return similar ?? { others: names };
}

/** `others`: undefined for a caller who may not read groups. */
function unknownGroup(named: string | undefined, others: readonly string[] | undefined): string {
  const unknown = `There is no device group "${plainLine(named ?? '')}".`;
  if (others === undefined) return unknown;
  const list = others.map((name) => `"${plainLine(name)}"`).join(', ');
  return `${unknown} ${others.length === 0 ? 'There are no groups; use tags or search.' : `Groups: ${list}.`}`;
}

/** Ids of a preview. A caller who may not read devices sees only their number. */
export function shownSample(caller: AgentCaller, devices: readonly { readonly id: string }[]) {
  return callerMay(caller, 'DEVICES_READ') && { sample: devices.slice(0, sampleMax).map(({ id }) => id) };
}

/** Undefined for an empty text, which means the same as leaving out. */
export function textIn(args: JsonObject, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
}
