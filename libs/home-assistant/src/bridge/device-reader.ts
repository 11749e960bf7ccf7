/** Reads the devices of the key with everything that their entities need, many at a time. */
import { compareVersions } from '@flotilla/firmware';
import { hasScope } from '@flotilla/fleet';
import { findToolPolicy } from '@flotilla/jobs';
import type { ToolPolicy } from '@flotilla/jobs';
import { hubToolDialect, identifyTool } from '@flotilla/mcp';
import { principalRef } from '@flotilla/registry';
import type { DeviceRow, FirmwareImageRow, Principal, Registry } from '@flotilla/registry';
import type { HomeDevice, HomeRights, HomeTool } from '../mapping/home-device.js';

/** The hub offers it on each device with a screen or a speaker: it shows which one it is. */
const identify: HomeTool = { ...identifyTool, schemaKnown: true };
/** Devices of one query. */
const pageMax = 250;
const imagesMax = 500;
/** How long policies and images are remembered, ms. */
const rememberedMs = 10_000;

export interface ReadHome {
  readonly devices: readonly HomeDevice[];
  readonly rights: HomeRights;
  readonly policyOf: (tool: string) => ToolPolicy;
  /** There are more devices than are published. */
  readonly isCut: boolean;
}

interface DeviceReaderDeps {
  readonly registry: Pick<Registry, 'firmwareImages' | 'toolPolicies' | 'viewFor'>;
  readonly clock: { now(): number };
  readonly devicesMax: number;
  /** What the bridge knows besides the database. */
  readonly valuesOf: (deviceId: string) => Pick<HomeDevice, 'samples' | 'setValues'>;
}

interface Common {
  readonly policies: readonly ToolPolicy[];
  /** The newest published firmware of each board. */
  readonly newest: ReadonlyMap<string, FirmwareImageRow>;
}

export class DeviceReader {
  #common: Promise<Common> | undefined;
  #readAt = -Infinity;

  constructor(private readonly deps: DeviceReaderDeps) {}

  /** Policies or images changed. */
  forget(): void {
    this.#common = undefined;
  }

  async all(principal: Principal): Promise<ReadHome> {
    const { devices } = this.#viewOf(principal);
    const rows: DeviceRow[] = [];
    let after: string | undefined;
    let hasMore = true;
    while (hasMore && rows.length < this.deps.devicesMax) {
      const first = Math.min(pageMax, this.deps.devicesMax - rows.length);
      const page = await devices.page({ all: true }, 'ID_ASC', { first, ...(after !== undefined && { after }) });
      rows.push(...page.rows);
      after = page.cursors.at(-1);
      hasMore = page.hasNextPage;
    }
    return { ...(await this.#complete(principal, rows)), isCut: hasMore };
  }

  /** The devices with these ids that the key can see. */
  async some(principal: Principal, ids: readonly string[]): Promise<ReadHome> {
    const rows = await this.#viewOf(principal).devices.findMany(ids);
    return {
      ...(await this.#complete(
        principal,
        rows.filter((row) => row !== undefined),
      )),
      isCut: false,
    };
  }

  /** The image that an update entity of this board offers. */
  async newestImage(model: string): Promise<FirmwareImageRow | undefined> {
    return (await this.#commonFacts()).newest.get(model);
  }

  #viewOf(principal: Principal) {
    return this.deps.registry.viewFor({ id: principalRef(principal), devices: principal.devices });
  }

  async #complete(principal: Principal, rows: readonly DeviceRow[]): Promise<Omit<ReadHome, 'isCut'>> {
    const { policies, newest } = await this.#commonFacts();
    const hashes = [...new Set(rows.flatMap(({ toolSetHash }) => toolSetHash ?? []))];
    const sets = await this.#viewOf(principal).toolSets.getMany(hashes);
    const known = new Map<string, ToolPolicy>();
    const policyOf = (tool: string): ToolPolicy => {
      const policy = known.get(tool) ?? findToolPolicy(policies, tool);
      known.set(tool, policy);
      return policy;
    };
    const toolsOf = ({ dialect, toolSetHash }: DeviceRow): readonly HomeTool[] => {
      const set = toolSetHash === undefined ? undefined : sets.get(toolSetHash);
      return [...(set?.tools ?? []), ...(set !== undefined && dialect === hubToolDialect ? [identify] : [])];
    };
    const devices = rows.map((row) => this.#deviceOf(row, toolsOf(row), newest));
    return { devices, policyOf, rights: rightsOf(principal) };
  }

  #deviceOf(row: DeviceRow, tools: readonly HomeTool[], newest: Common['newest']): HomeDevice {
    const { id, name, model, firmwareVersion, presence, reportedState = {} } = row;
    return {
      id,
      name,
      model,
      firmwareVersion,
      reportedState,
      tools,
      isOnline: presence === 'ONLINE',
      latestVersion: latestFor(firmwareVersion, model === undefined ? undefined : newest.get(model)),
      ...this.deps.valuesOf(id),
    };
  }

  async #commonFacts(): Promise<Common> {
    const now = this.deps.clock.now();
    if (this.#common === undefined || now - this.#readAt >= rememberedMs) {
      this.#readAt = now;
      this.#common = this.#readCommon();
    }
    const common = this.#common;
    try {
      return await common;
    } catch (error) {
      // A failed read is not remembered.
      if (this.#common === common) this.#common = undefined;
      throw error;
    }
  }

  async #readCommon(): Promise<Common> {
    const { firmwareImages, toolPolicies } = this.deps.registry;
    const [policies, images] = await Promise.all([toolPolicies.all(), firmwareImages.page({ first: imagesMax })]);
    const newest = new Map<string, FirmwareImageRow>();
    for (const image of images.rows) {
      if (image.kind !== 'FIRMWARE' || image.publishedAt === undefined || image.withdrawnAt !== undefined) continue;
      for (const model of image.models) {
        const former = newest.get(model);
        if (former === undefined || compareVersions(image.version, former.version) > 0) newest.set(model, image);
      }
    }
    return { policies, newest };
  }
}

/** A device that runs something newer than all images has no update. */
function latestFor(running: string | undefined, image: FirmwareImageRow | undefined): string | undefined {
  if (image === undefined || running === undefined) return image?.version;
  return compareVersions(image.version, running) > 0 ? image.version : running;
}

export function rightsOf(principal: Principal): HomeRights {
  const mayCall = hasScope(principal, 'TOOLS_CALL');
  const mayCallUserOnly = mayCall && hasScope(principal, 'TOOLS_CALL_PRIVILEGED');
  const mayUpdate = mayCallUserOnly && hasScope(principal, 'FIRMWARE_WRITE') && hasScope(principal, 'JOBS_WRITE');
  return { mayCall, mayCallUserOnly, mayUpdate };
}
