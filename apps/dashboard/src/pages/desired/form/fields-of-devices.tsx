/** The devices on which the value is kept: those that match a filter, now and later. */
import type { KeyboardEvent } from 'react';
import { Button, Checkbox, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Json } from '../../../parts/json';
import { conditionsOf, filterOf } from '../../devices/device-search';
import { FilterBar } from '../../devices/filter-bar';
import { refusedIn } from '../../new-job/refusals';
import type { DesiredFields } from './desired-fields';
import { isComplete } from './desired-draft';
import formClasses from '../../new-job/new-job.module.css';

export function FieldsOfDevices({ draft, change, refusals, isTried }: DesiredFields) {
  const { t } = useTranslation();
  const { devices, isWholeFleet, keptFilter } = draft;
  const isMissing = isTried && !isComplete({ ...draft, tool: 'any', isSound: true });
  const refused = (isMissing && t('newJob.missing.devices')) || refusedIn(refusals, 'devices');
  // The search runs while the user types, so Enter in it does not submit the form.
  const stay = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.type === 'search')
      event.preventDefault();
  };
  if (keptFilter !== undefined)
    return (
      <Stack align="flex-start">
        <Json value={keptFilter} label={t('desired.devices')} />
        <Button variant="default" size="xs" onClick={() => change({ keptFilter: undefined })}>
          {t('desired.otherFilter')}
        </Button>
      </Stack>
    );
  return (
    <Stack>
      <p className={formClasses.text}>{t('desired.devicesHint')}</p>
      <div onKeyDown={stay}>
        <FilterBar
          search={devices}
          onChange={(changed) => change({ devices: conditionsOf({ ...devices, ...changed }), isWholeFleet: false })}
        />
      </div>
      {filterOf(devices) === undefined && (
        <Checkbox
          label={t('newJob.wholeFleet')}
          description={t('desired.wholeFleetHint')}
          checked={isWholeFleet}
          error={refused}
          aria-invalid={refused !== undefined}
          onChange={(event) => change({ isWholeFleet: event.currentTarget.checked })}
        />
      )}
      {filterOf(devices) !== undefined && refused && (
        <p className={formClasses.refused} role="alert">
          {refused}
        </p>
      )}
    </Stack>
  );
}
