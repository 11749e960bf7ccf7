/** The tools that a job may call: of the chosen devices where there are some, else of the fleet. */
import { useCallback, useMemo } from 'react';
import { usePages } from '../../../hub/lists/use-pages';
import { JobToolChoicesDocument, type JobToolChoicesQuery } from '../generated/new-job';
import { deviceFilterOf, hasWhom, type JobDraft } from '../job-draft';
import { mostCommon } from './most-common-tools';

/** Tools or images that a list of choices has; a longer one says so. */
export const choicesAtOnce = 1_000;

export function useToolChoices(draft: Pick<JobDraft, 'ids' | 'devices' | 'isWholeFleet'>) {
  const { ids, devices } = draft;
  const isNarrowed = hasWhom(draft);
  const filter = useMemo(() => (isNarrowed ? deviceFilterOf({ ids, devices }) : undefined), [isNarrowed, ids, devices]);
  const variables = useCallback(
    (after: string | null) => ({ filter: filter === undefined ? null : { devices: filter }, after }),
    [filter],
  );
  const pages = usePages({ query: JobToolChoicesDocument, variables, listOf, rowsAtOnce: choicesAtOnce });
  const { rows, error, hasMore, isLoading, refresh } = pages;
  const tools = useMemo(() => mostCommon(rows), [rows]);
  return { tools, hasMore, isLoading, error, refresh };
}

const listOf = ({ tools }: JobToolChoicesQuery) => tools;
