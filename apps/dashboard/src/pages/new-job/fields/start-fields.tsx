/** When it starts: at once, or at a moment in a time zone. */
import { Group, SegmentedControl, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../../parts/zone/moment';
import { viewerZone } from '../../../parts/zone/time-zones';
import { ZoneField } from '../../../parts/zone/zone-field';
import { instantsOf } from '../../../parts/zone/zoned-time';
import { missingIn } from '../job-draft';
import { refusedAt } from '../refusals';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

export function StartFields() {
  const { t } = useTranslation();
  const { draft, change, refusals, isTried } = useWizard();
  const missing = isTried ? missingIn('pace', draft) : undefined;
  const lacks = missing === 'start' || missing === 'skippedStart' ? t(`newJob.missing.${missing}`) : undefined;
  return (
    <Group align="flex-end">
      <div>
        <div className={classes.label} id="start-label">
          {t('newJob.startAt')}
        </div>
        <SegmentedControl
          aria-labelledby="start-label"
          value={draft.startAt === undefined ? 'now' : 'later'}
          onChange={(kind) => change({ startAt: kind === 'now' ? undefined : '' })}
          data={(['now', 'later'] as const).map((value) => ({ value, label: t(`newJob.startKinds.${value}`) }))}
        />
      </div>
      {draft.startAt !== undefined && (
        <>
          <TextInput
            type="datetime-local"
            label={t('newJob.startMoment')}
            value={draft.startAt}
            error={lacks ?? refusedAt(refusals, 'startAt')}
            onChange={(event) => change({ startAt: event.currentTarget.value })}
            w={220}
          />
          <ZoneField
            label={t('newJob.zone')}
            value={draft.startZone}
            onChange={(zone) => change({ startZone: zone || viewerZone() })}
            w={300}
          />
          <StartMoment local={draft.startAt} zone={draft.startZone} />
        </>
      )}
    </Group>
  );
}

/** The chosen instant, or why the local time is not one. */
function StartMoment({ local, zone }: { readonly local: string; readonly zone: string }) {
  const { t } = useTranslation();
  if (local === '') return null;
  const [at, second] = instantsOf(local, zone);
  return (
    <p className={classes.hint} role="status">
      {at === undefined ? t('newJob.missing.skippedStart') : <Moment at={at} zone={zone} />}
      {second !== undefined && ` ${t('zone.twice')}`}
    </p>
  );
}
