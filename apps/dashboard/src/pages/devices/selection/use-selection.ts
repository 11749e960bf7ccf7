/** The selection of the Devices table, with ranges by Shift. */
import { type Dispatch, type SetStateAction, useCallback, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Selection } from '../../../parts/table/row-selection';
import type { DeviceLineFragment } from '../generated/devices';
import { type DeviceSelection, isSelected, rangeOf, withDevices } from './selection';

interface SelectionState {
  readonly rows: readonly DeviceLineFragment[];
  readonly selection: DeviceSelection;
  readonly setSelection: Dispatch<SetStateAction<DeviceSelection>>;
}

export function useSelection({ rows, selection, setSelection }: SelectionState): Selection<DeviceLineFragment> {
  const { t } = useTranslation();
  const listed = useRef(rows);
  const anchor = useRef<string>(undefined);
  useEffect(() => {
    listed.current = rows;
  }, [rows]);
  const toggle = useCallback(
    ({ id }: DeviceLineFragment, isRange: boolean) => {
      const ids = isRange
        ? rangeOf(
            listed.current.map((row) => row.id),
            anchor.current,
            id,
          )
        : [id];
      anchor.current = id;
      setSelection((now) => withDevices(now, ids, !isSelected(now, id)));
    },
    [setSelection],
  );
  return {
    toggle,
    isSelected: ({ id }) => isSelected(selection, id),
    toggleAll: (areAll) =>
      setSelection((now) =>
        withDevices(
          now,
          rows.map(({ id }) => id),
          areAll,
        ),
      ),
    allLabel: t('devices.selectShown'),
    labelOf: ({ id, name }) => t('devices.select', { device: name ?? id }),
  };
}
