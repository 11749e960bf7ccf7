/** The devices on which the value is kept: those that match a filter, now and later. */
import { Button, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Json } from '../../../parts/json';
import { DeviceFilterField } from '../../new-job/fields/device-filter-field';
import { refusedIn } from '../../new-job/refusals';
import type { DesiredFields } from './desired-fields';
import { isComplete } from './desired-draft';
import formClasses from '../../new-job/new-job.module.css';

export function FieldsOfDevices({ draft, change, refusals, isTried }: DesiredFields) {
  const { t } = useTranslation();
  const { devices, isWholeFleet, keptFilter } = draft;
  const isMissing = isTried && !isComplete({ ...draft, tool: 'any', isSound: true });
  const refused = (isMissing && t('newJob.missing.devices')) || refusedIn(refusals, 'devices');
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
      <DeviceFilterField
        {...{ devices, isWholeFleet }}
        wholeFleetHint={t('desired.wholeFleetHint')}
        refused={refused || undefined}
        onChange={change}
      />
    </Stack>
  );
}
