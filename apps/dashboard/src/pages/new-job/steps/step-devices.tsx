/**
 * Selects the devices: chosen before, or matching a filter; and decides what happens to offline
 * ones.
 */
import { Button, Group, Select, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../../hub/use-hub-query';
import { DeviceCountDocument } from '../../devices/generated/devices';
import { deviceFilterOf, missingIn } from '../job-draft';
import { DeviceFilterField } from '../fields/device-filter-field';
import { NumberField } from '../../../parts/number/number-field';
import { refusedAt, refusedIn } from '../refusals';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

export function StepDevices() {
  const { t } = useTranslation();
  const { draft, change, refusals, isTried } = useWizard();
  const { ids, devices, isWholeFleet } = draft;
  const isMissing = isTried && missingIn('whom', draft) === 'devices';
  const refused = (isMissing && t('newJob.missing.devices')) || refusedIn(refusals, 'devices');
  return (
    <Stack>
      {ids === undefined ? (
        <DeviceFilterField
          {...{ devices, isWholeFleet }}
          wholeFleetHint={t('newJob.wholeFleetHint')}
          refused={refused || undefined}
          onChange={change}
        />
      ) : (
        <div className={classes.chosen}>
          <span>{t('newJob.chosen', { count: ids.length })}</span>
          {devices.hasTool !== undefined && <span>{t('newJob.onlyWithTool', { tool: devices.hasTool })}</span>}
          <Button variant="subtle" size="compact-sm" onClick={() => change({ ids: undefined })}>
            {t('newJob.filterInstead')}
          </Button>
        </div>
      )}
      <Count />
      <Away />
    </Stack>
  );
}

function Count() {
  const { t } = useTranslation();
  const { draft } = useWizard();
  const { data } = useHubQuery({ query: DeviceCountDocument, variables: { filter: deviceFilterOf(draft) } });
  const count = data?.fleetSummary;
  return (
    <p className={classes.count} role="status">
      {count && t('devices.count', { count: count.deviceCount, online: count.onlineCount })}
    </p>
  );
}

/** Devices that are offline when their turn comes. */
function Away() {
  const { t } = useTranslation();
  const { draft, change, refusals } = useWizard();
  return (
    <Group align="flex-start">
      <Select
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        label={t('newJob.offline')}
        description={t(`newJob.offlineHints.${draft.offline}`)}
        data={(['WAIT', 'SKIP', 'FAIL'] as const).map((value) => ({ value, label: t(`newJob.offlineKinds.${value}`) }))}
        value={draft.offline}
        error={refusedAt(refusals, 'offline')}
        onChange={(offline) => change({ offline: offline as 'WAIT' })}
        w={300}
        maw="100%"
      />
      <NumberField
        label={t('newJob.expires')}
        description={t('newJob.expiresHint')}
        suffix={t('unit.h')}
        allowDecimal
        min={0.01}
        max={720}
        fallback={24}
        value={draft.expiresInHours}
        error={refusedAt(refusals, 'expiresInSeconds')}
        onChange={(expiresInHours = 24) => change({ expiresInHours })}
      />
    </Group>
  );
}
