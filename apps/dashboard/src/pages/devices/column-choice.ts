/** Which columns the Devices table shows, kept in this browser. */
import { useCallback, useState } from 'react';

export const columnIds = [
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
  readonly shown: ReadonlySet<ColumnId>;
  readonly toggle: (id: ColumnId) => void;
}

function keptColumns(): ReadonlySet<ColumnId> {
  const kept = localStorage.getItem(storageKey)?.split(',');
  return new Set(kept ? columnIds.filter((id) => id === 'device' || kept.includes(id)) : byDefault);
}

export function useColumnChoice(): ColumnChoice {
  const [shown, setShown] = useState(keptColumns);
  const toggle = useCallback((id: ColumnId) => {
    setShown((now) => {
      const chosen = new Set(columnIds.filter((other) => (other === id ? !now.has(id) : now.has(other))));
      localStorage.setItem(storageKey, [...chosen].join(','));
      return chosen;
    });
  }, []);
  return { shown, toggle };
}
