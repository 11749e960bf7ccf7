/** Look-ups gathered per operation, so that a list of devices costs as many statements as one device. Never shared between operations. */
import DataLoader from 'dataloader';
import type { JobId, ToolSetHash } from '@flotilla/mcp';
import type { JobProgress, ToolPolicy } from '@flotilla/jobs';
import type { DeviceRow, Registry, ToolSet } from '@flotilla/registry';

export interface Loaders {
  readonly device: DataLoader<string, DeviceRow | undefined>;
  readonly toolSet: DataLoader<ToolSetHash, ToolSet | undefined>;
  readonly jobProgress: DataLoader<JobId, JobProgress | undefined>;
  /** All policies: there are few, and matching is by longest prefix. */
  readonly toolPolicies: () => Promise<readonly ToolPolicy[]>;
}

export function makeLoaders(registry: Registry): Loaders {
  let policies: Promise<readonly ToolPolicy[]> | undefined;
  return {
    device: new DataLoader((ids) => registry.devices.findMany(ids)),
    toolSet: new DataLoader(async (hashes) => {
      const sets = await registry.toolSets.getMany(hashes);
      return hashes.map((hash) => sets.get(hash));
    }),
    jobProgress: new DataLoader(async (ids) => {
      const progress = await registry.jobs.progress(ids);
      return ids.map((id) => progress.get(id));
    }),
    toolPolicies: () => (policies ??= registry.toolPolicies.all()),
  };
}
