/** Selects devices by a filter. The whole fleet has to be confirmed. */
import type { KeyboardEvent } from 'react';
import { Checkbox } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { conditionsOf, type DeviceConditions, filterOf } from '../../devices/device-search';
import { FilterBar } from '../../devices/filter-bar';
import classes from '../new-job.module.css';

interface ChosenDevices {
  readonly devices: DeviceConditions;
  readonly isWholeFleet: boolean;
}

interface DeviceFilterFieldProps extends ChosenDevices {
  /** What the whole fleet means here. */
  readonly wholeFleetHint: string;
  readonly refused: string | undefined;
  readonly onChange: (changed: Partial<ChosenDevices>) => void;
}

export function DeviceFilterField({
  devices,
  isWholeFleet,
  wholeFleetHint,
  refused,
  onChange,
}: DeviceFilterFieldProps) {
  const { t } = useTranslation();
  // The search runs while the user types, so Enter in it does not submit the form.
  const stay = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.type === 'search')
      event.preventDefault();
  };
  return (
    <>
      <div onKeyDown={stay}>
        <FilterBar
          search={devices}
          onChange={(changed) => onChange({ devices: conditionsOf({ ...devices, ...changed }), isWholeFleet: false })}
        />
      </div>
      {filterOf(devices) === undefined && (
        <Checkbox
          label={t('newJob.wholeFleet')}
          description={wholeFleetHint}
          checked={isWholeFleet}
          error={refused}
          aria-invalid={refused !== undefined}
          onChange={(event) => onChange({ isWholeFleet: event.currentTarget.checked })}
        />
      )}
      {filterOf(devices) !== undefined && refused !== undefined && (
        <p className={classes.refused} role="alert">
          {refused}
        </p>
      )}
    </>
  );
}
