/** The series of several parts of the fleet, read together and again every minute. */
import { useEffect, useMemo, useState } from 'react';
import { useClient } from 'urql';
import { type FleetLines, type FleetPart, linesAfter, linesOf, noLines } from './fleet-lines';
import { FleetLineDocument } from './generated/measurements';

const refreshMs = 60_000;
const points = 200;

/** `parts` must keep its identity while it does not change. */
export function useFleetLines(path: string | undefined, parts: readonly FleetPart[], periodMs: number): FleetLines {
  const client = useClient();
  const [found, setFound] = useState(noLines);
  useEffect(() => {
    if (path === undefined || parts.length === 0) return undefined;
    let isOver = false;
    const read = async () => {
      const since = new Date(Date.now() - periodMs).toISOString();
      const answers = await Promise.all(
        parts.map(({ filter }) =>
          client.query(FleetLineDocument, { filter, path, since, points }, { requestPolicy: 'network-only' }),
        ),
      );
      if (isOver) return;
      const error = answers.find((answer) => answer.error)?.error;
      const lines = parts.map((part, index) => ({
        ...part,
        points: answers[index]?.data?.fleetMeasurements.points ?? [],
      }));
      const wanted = { path, parts, periodMs };
      setFound((former) => linesAfter(former, { wanted, lines: error ? undefined : lines, since, error }));
    };
    void read();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void read();
    }, refreshMs);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [client, path, parts, periodMs]);
  return useMemo(() => linesOf(found, { path, parts, periodMs }), [found, path, parts, periodMs]);
}
