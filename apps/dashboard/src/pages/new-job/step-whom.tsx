/** The devices: those that were chosen before, or whoever matches a filter. */
import { Button, Checkbox, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { DeviceCountDocument } from '../devices/generated/devices';
import { conditionsOf, filterOf } from '../devices/device-search';
import { FilterBar } from '../devices/filter-bar';
import { deviceFilterOf } from './job-draft';
import type { StepProps } from './new-job-page';
import classes from './new-job.module.css';

export function StepWhom({ draft, change }: StepProps) {
  const { t } = useTranslation();
  const { ids, devices, isWholeFleet } = draft;
  const { data } = useHubQuery({ query: DeviceCountDocument, variables: { filter: deviceFilterOf(draft) } });
  const count = data?.fleetSummary;
  return (
    <Stack>
      {ids === undefined ? (
        <>
          <FilterBar
            search={devices}
            onChange={(changed) => change({ devices: conditionsOf({ ...devices, ...changed }), isWholeFleet: false })}
          />
          {filterOf(devices) === undefined && (
            <Checkbox
              label={t('newJob.wholeFleet')}
              description={t('newJob.wholeFleetHint')}
              checked={isWholeFleet}
              onChange={(event) => change({ isWholeFleet: event.currentTarget.checked })}
            />
          )}
        </>
      ) : (
        <div className={classes.chosen}>
          <span>{t('newJob.chosen', { count: ids.length })}</span>
          <Button variant="subtle" size="compact-sm" onClick={() => change({ ids: undefined })}>
            {t('newJob.filterInstead')}
          </Button>
        </div>
      )}
      {count && (
        <p className={classes.count} role="status">
          {t('devices.count', { count: count.deviceCount, online: count.onlineCount })}
        </p>
      )}
    </Stack>
  );
}
