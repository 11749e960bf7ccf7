/** The hours of the day at which the job may send, in the zone of the devices. */
import { Checkbox, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { NextOpening } from '../../../parts/zone/hours-text';
import { viewerZone } from '../../../parts/zone/time-zones';
import type { DailyHours } from '../../../parts/zone/zoned-time';
import { useWizard } from '../wizard';
import { WindowFieldset } from './window-fieldset';
import classes from '../new-job.module.css';

export function HoursFields() {
  const { t } = useTranslation();
  const { draft, change } = useWizard();
  const night = () => ({ from: '22:00', to: '06:00', zone: viewerZone(), days: [] });
  return (
    <Stack gap="sm">
      <Checkbox
        label={t('newJob.window')}
        description={t('newJob.windowHint')}
        checked={draft.window !== undefined}
        onChange={(event) => change({ window: event.currentTarget.checked ? night() : undefined })}
      />
      {draft.window && <Hours window={draft.window} />}
    </Stack>
  );
}

function Hours({ window }: { readonly window: DailyHours }) {
  const { t } = useTranslation();
  const { change, refusals } = useWizard();
  const set = ({ zone = window.zone, ...changed }: Partial<DailyHours>) =>
    change({ window: { ...window, ...changed, zone: zone || viewerZone() } });
  return (
    <WindowFieldset legend={t('newJob.windowOf')} window={window} refusals={refusals} onChange={set}>
      <div className={classes.hint}>
        <NextOpening hours={window} />
      </div>
    </WindowFieldset>
  );
}
