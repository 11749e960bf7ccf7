/**
 * Reads the tools of the fleet for agents: which exist, which a caller may call, and which one a
 * name selects.
 */
import { findToolPolicy, type ToolPolicy } from '@flotilla/jobs';
import type { ToolSetHash } from '@flotilla/mcp';
import type { DeviceRow, FleetView, Registry, Scope, StoredTool } from '@flotilla/registry';
import { toolsOf } from '../../devices/device-tools.js';
import { agentToolNames, deviceIdIn, devicePartIn } from './agent-tool-names.js';
import { callerMay, mayCall, type AgentCaller } from '../session/agent-caller.js';
import { UnusualDeviceIds } from './unusual-device-ids.js';

/** Tools that are listed one by one by default: with more, a model chooses badly and costs more. */
const listedToolsMax = 100;
/** Devices to read before the fleet counts as large. */
const surveyedDevicesMax = 1_000;
/** Devices read with one statement, and on one page of a listing. */
const pageRows = 200;

/** A tool of one device, under its name for agents. */
export interface AgentTool {
  readonly agentName: string;
  readonly device: DeviceRow;
  readonly tool: StoredTool;
  readonly policy: ToolPolicy;
  /** Whether it only reads, as far as policies say; undefined where they do not. */
  readonly readOnly: boolean | undefined;
}

/** Some of the devices that are online, by id, each with the tools that the caller may call. */
interface OnlineTools {
  readonly devices: readonly {
    readonly deviceId: string;
    readonly cursor: string;
    readonly tools: readonly AgentTool[];
  }[];
  readonly hasMore: boolean;
}

interface DevicePage {
  readonly devices: readonly DeviceWithTools[];
  readonly cursors: readonly string[];
  readonly nextCursor: string | undefined;
}

interface DeviceWithTools {
  readonly device: DeviceRow;
  readonly tools: readonly StoredTool[];
}

export class ToolCatalogue {
  readonly #odd: UnusualDeviceIds;

  constructor(private readonly registry: Pick<Registry, 'devices' | 'toolSets' | 'toolPolicies'>) {
    this.#odd = new UnusualDeviceIds(registry.devices);
  }

  /**
   * Whether the caller gets the compact listing. Offline devices count, so that it stays stable.
   */
  async isCompact(caller: AgentCaller): Promise<boolean> {
    if (caller.mode !== 'auto') return caller.mode === 'compact';
    let tools = 0;
    let devices = 0;
    for (let cursor: string | undefined, more = true; more;) {
      const page = await this.#page(caller.view, {}, cursor);
      for (const entry of page.devices) tools += entry.tools.filter((tool) => mayCall(caller, tool)).length;
      devices += page.devices.length;
      cursor = page.nextCursor;
      more = cursor !== undefined;
      if (tools > listedToolsMax || (more && devices >= surveyedDevicesMax)) return true;
    }
    return false;
  }

  /** The next devices that are online, behind the one with the cursor `after`. */
  async online(caller: AgentCaller, after: string | undefined): Promise<OnlineTools> {
    if (!callerMay(caller, 'DEVICES_READ') || !callerMay(caller, 'TOOLS_CALL')) return { devices: [], hasMore: false };
    const [{ devices, cursors, nextCursor }, policies] = await Promise.all([
      this.#page(caller.view, { presence: 'ONLINE' }, after),
      this.registry.toolPolicies.all(),
    ]);
    const online = devices.map((entry, at) => ({
      deviceId: entry.device.id,
      cursor: cursors[at] ?? '',
      tools: this.#named(entry, policies).filter(({ tool }) => mayCall(caller, tool)),
    }));
    return { devices: online, hasMore: nextCursor !== undefined };
  }

  /** The tools of one device that the caller may call, if it is online. */
  async onlineToolsOf(caller: AgentCaller, deviceId: string): Promise<readonly AgentTool[]> {
    if (!callerMay(caller, 'DEVICES_READ') || !callerMay(caller, 'TOOLS_CALL')) return [];
    const found = await this.describe(caller, deviceId);
    return found?.device.presence === 'ONLINE' ? found.tools : [];
  }

  /**
   * Identifies the full listing of callers whose scopes open more tools, to detect changes.
   * Undefined while their listing is compact.
   */
  async fingerprint(scopes: readonly Scope[]): Promise<string | undefined> {
    let tools = 0;
    const seen: unknown[] = [];
    const policies = await this.registry.toolPolicies.all();
    for (let cursor: string | undefined, more = true; more;) {
      const page = await this.#page(this.registry, {}, cursor);
      for (const { device, tools: own } of page.devices) {
        tools += own.filter((tool) => mayCall({ viewer: { scopes } }, tool)).length;
        seen.push([device.id, device.name, device.presence, device.toolSetHash]);
      }
      cursor = page.nextCursor;
      more = cursor !== undefined;
      if (tools > listedToolsMax || (more && seen.length >= surveyedDevicesMax)) return undefined;
    }
    return JSON.stringify([seen, policies]);
  }

  /** The tools of one device, with their names for agents; those that the caller may call. */
  async describe(
    caller: AgentCaller,
    deviceId: string,
  ): Promise<{ readonly device: DeviceRow; readonly tools: readonly AgentTool[] } | undefined> {
    const [device, policies] = await Promise.all([
      caller.view.devices.find(deviceId),
      this.registry.toolPolicies.all(),
    ]);
    if (device === undefined) return undefined;
    const [entry] = await this.#withTools([device]);
    return {
      device,
      tools: entry === undefined ? [] : this.#named(entry, policies).filter(({ tool }) => mayCall(caller, tool)),
    };
  }

  /**
   * The tool with this name on a device in the view of the caller, even if the caller may not call
   * it.
   */
  async find(
    { view }: AgentCaller,
    agentName: string,
  ): Promise<{ readonly deviceId: string; readonly tool: string } | undefined> {
    const part = devicePartIn(agentName);
    const id = deviceIdIn(agentName);
    if (part === undefined || id === undefined) return undefined;
    const found = await this.#findAmong(view, [id], agentName);
    return found ?? this.#odd.find(part, (ids) => this.#findAmong(view, ids, agentName));
  }

  async #findAmong({ devices: seen }: FleetView, ids: readonly string[], agentName: string) {
    if (ids.length === 0) return undefined;
    const devices = (await seen.findMany(ids)).filter((device) => device !== undefined);
    for (const { device, tools } of await this.#withTools(devices)) {
      for (const [tool, name] of agentToolNames(device.id, namesOf(tools)))
        if (name === agentName) return { deviceId: device.id, tool };
    }
    return undefined;
  }

  async #page(
    { devices }: Pick<FleetView, 'devices'>,
    filter: { readonly presence?: 'ONLINE' },
    cursor: string | undefined,
  ): Promise<DevicePage> {
    const request = { first: pageRows, ...(cursor === undefined ? {} : { after: cursor }) };
    const { rows, cursors, hasNextPage } = await devices.page(filter, 'ID_ASC', request);
    return { devices: await this.#withTools(rows), cursors, nextCursor: hasNextPage ? cursors.at(-1) : undefined };
  }

  async #withTools(devices: readonly DeviceRow[]): Promise<readonly DeviceWithTools[]> {
    const hashes = [...new Set(devices.flatMap(({ toolSetHash }) => toolSetHash ?? []))] as readonly ToolSetHash[];
    const sets = await this.registry.toolSets.getMany(hashes);
    return devices.map((device) => ({
      device,
      tools: toolsOf(device, device.toolSetHash && sets.get(device.toolSetHash)),
    }));
  }

  /** Names all tools, so that names are the same for every caller. */
  #named({ device, tools }: DeviceWithTools, policies: readonly ToolPolicy[]): readonly AgentTool[] {
    const names = agentToolNames(device.id, namesOf(tools));
    return tools.map((tool) => {
      const policy = findToolPolicy(policies, tool.name);
      return {
        agentName: names.get(tool.name) ?? '',
        device,
        tool,
        policy,
        readOnly: policy.readOnly ?? seemsReadOnly(tool.name, policy, policies),
      };
    });
  }
}

function namesOf(tools: readonly StoredTool[]): readonly string[] {
  return tools.map(({ name }) => name);
}

/**
 * Inferred from the policies: a pattern about getting or reading, or a readback that uses the tool.
 */
function seemsReadOnly(tool: string, policy: ToolPolicy, policies: readonly ToolPolicy[]): true | undefined {
  if (policy.disruptive || !policy.idempotent) return undefined;
  const isNamedSo = /(?:^|[._])(?:get|read)(?:[._*]|$)/.test(policy.pattern);
  return isNamedSo || policies.some(({ readback }) => readback?.tool === tool) || undefined;
}
