/** The series of several parts of the fleet, read together and again every minute. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Client, useClient } from 'urql';
import { OneRead } from '../../hub/lists/one-read';
import { readEvery } from '../../hub/read-again';
import { useHealed } from '../../hub/use-healed';
import { useVisibleInterval } from '../../hub/use-visible-interval';
import {
  type FleetLines,
  type FleetPart,
  linesAfter,
  linesOf,
  type LinesWanted,
  noLines,
  type ReadLines,
} from './fleet-lines';
import { FleetLineDocument } from './generated/measurements';

const refreshMs = 60_000;
const points = 200;

/** `parts` must keep its identity while it does not change. */
export function useFleetLines(path: string | undefined, parts: readonly FleetPart[], periodMs: number): FleetLines {
  const client = useClient();
  const [found, setFound] = useState(noLines);
  const wanted = useMemo(() => ({ path, parts, periodMs }), [path, parts, periodMs]);
  const latest = useRef<LinesWanted>(wanted);
  // A read of lines that are not wanted any more delays no other.
  const reads = useMemo(
    () =>
      new OneRead<undefined>(async () => {
        const read = await readLines(client, wanted);
        if (read && latest.current === wanted) setFound((former) => linesAfter(former, read));
      }),
    [client, wanted],
  );
  const refresh = useCallback(() => reads.ask(undefined), [reads]);
  const look = useCallback(() => {
    if (!reads.isReading) refresh();
  }, [reads, refresh]);
  useEffect(() => {
    latest.current = wanted;
    refresh();
    return () => reads.stop();
  }, [reads, refresh, wanted]);
  const shown = useMemo(() => linesOf(found, wanted), [found, wanted]);
  useHealed(refresh);
  useVisibleInterval(look, readEvery(refreshMs, shown.error));
  return shown;
}

async function readLines(client: Client, wanted: LinesWanted): Promise<ReadLines | undefined> {
  const { path, parts, periodMs } = wanted;
  if (path === undefined || parts.length === 0) return undefined;
  const since = new Date(Date.now() - periodMs).toISOString();
  const answers = await Promise.all(
    parts.map(({ filter }) =>
      client.query(FleetLineDocument, { filter, path, since, points }, { requestPolicy: 'network-only' }),
    ),
  );
  const error = answers.find((answer) => answer.error)?.error;
  const lines = parts.map((part, index) => ({
    ...part,
    points: answers[index]?.data?.fleetMeasurements.points ?? [],
  }));
  return { wanted, lines: error ? undefined : lines, since, error };
}
