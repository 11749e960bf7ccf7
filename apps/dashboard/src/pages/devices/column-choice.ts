/** Which columns the Devices table shows, kept in this browser. */
import { useCallback, useMemo, useState } from 'react';
import { useScope } from '../../hub/hub';

const columnIds = [
  'device',
  'id',
  'presence',
  'model',
  'firmware',
  'tags',
  'transport',
  'dialect',
  'desired',
  'lastSeen',
  'connected',
] as const;
export type ColumnId = (typeof columnIds)[number];

const storageKey = 'flotilla.devices.columns';
const byDefault: readonly ColumnId[] = ['device', 'presence', 'model', 'firmware', 'tags', 'transport', 'lastSeen'];

export interface ColumnChoice {
  /** Those that the viewer may see. */
  readonly offered: readonly ColumnId[];
  readonly shown: ReadonlySet<ColumnId>;
  readonly toggle: (id: ColumnId) => void;
}

/** The hub hides desired states without JOBS_READ, and then the column would have no content. */
export function columnsFor(mayReadJobs: boolean): readonly ColumnId[] {
  return columnIds.filter((id) => mayReadJobs || id !== 'desired');
}

function keptColumns(): ReadonlySet<ColumnId> {
  const kept = localStorage.getItem(storageKey)?.split(',');
  return new Set(kept ? columnIds.filter((id) => id === 'device' || kept.includes(id)) : byDefault);
}

export function useColumnChoice(): ColumnChoice {
  const [chosenColumns, setChosen] = useState(keptColumns);
  const mayReadJobs = useScope('JOBS_READ');
  const offered = useMemo(() => columnsFor(mayReadJobs), [mayReadJobs]);
  const shown = useMemo(() => new Set(offered.filter((id) => chosenColumns.has(id))), [offered, chosenColumns]);
  const toggle = useCallback((id: ColumnId) => {
    setChosen((now) => {
      const chosen = new Set(columnIds.filter((other) => (other === id ? !now.has(id) : now.has(other))));
      localStorage.setItem(storageKey, [...chosen].join(','));
      return chosen;
    });
  }, []);
  return { offered, shown, toggle };
}
