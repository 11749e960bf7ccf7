/** When it starts: at once, or at a moment in the viewer's zone. */
import { Group, SegmentedControl, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { missingIn } from '../job-draft';
import { refusedAt } from '../refusals';
import { useWizard } from '../wizard';
import { viewerZone } from './time-zones';
import classes from '../new-job.module.css';

export function StartFields() {
  const { t } = useTranslation();
  const { draft, change, refusals, isTried } = useWizard();
  const isMissing = isTried && missingIn('pace', draft) === 'start';
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
        <TextInput
          type="datetime-local"
          label={t('newJob.startMoment')}
          description={t('newJob.inZone', { zone: viewerZone() })}
          value={draft.startAt}
          error={(isMissing && t('newJob.missing.start')) || refusedAt(refusals, 'startAt')}
          onChange={(event) => change({ startAt: event.currentTarget.value })}
          w={260}
        />
      )}
    </Group>
  );
}
