/** The tools that a job may call: of the chosen devices where there are some, else of the fleet. */
import { useMemo } from 'react';
import { useHubQuery } from '../../../hub/use-hub-query';
import { JobToolChoicesDocument } from '../generated/new-job';
import { deviceFilterOf, hasWhom, type JobDraft } from '../job-draft';
import { mostCommon } from './most-common-tools';

export function useToolChoices(draft: Pick<JobDraft, 'ids' | 'devices' | 'isWholeFleet'>) {
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
