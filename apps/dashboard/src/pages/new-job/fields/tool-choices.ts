/** The tools that a job may call: of the chosen devices where there are some, else of the fleet. */
import { useMemo } from 'react';
import { useHubQuery } from '../../../hub/use-hub-query';
import { JobToolChoicesDocument, type JobToolChoicesQuery } from '../generated/new-job';
import { deviceFilterOf, hasWhom, type JobDraft } from '../job-draft';

export type ToolChoice = JobToolChoicesQuery['tools']['nodes'][number];

export function useToolChoices(draft: JobDraft) {
  const { ids, devices } = draft;
  const isNarrowed = hasWhom(draft);
  const variables = useMemo(
    () => ({ filter: isNarrowed ? { devices: deviceFilterOf({ ids, devices }) } : null }),
    [isNarrowed, ids, devices],
  );
  const { data, error, refresh } = useHubQuery({ query: JobToolChoicesDocument, variables });
  const tools = useMemo(() => mostCommon(data?.tools.nodes ?? []), [data]);
  return { tools, error, refresh };
}

/** One of each name, with the schema that most devices have; the hub checks each device's own. */
function mostCommon(tools: readonly ToolChoice[]): readonly ToolChoice[] {
  const byName = new Map<string, ToolChoice>();
  for (const tool of tools) {
    const known = byName.get(tool.name);
    const most = known && known.deviceCount > tool.deviceCount ? known : tool;
    byName.set(tool.name, { ...most, deviceCount: tool.deviceCount + (known?.deviceCount ?? 0) });
  }
  return [...byName.values()].sort((one, other) => one.name.localeCompare(other.name));
}
