/** In which waves, how many a minute, from when on, and at which hours. */
import { Group, SegmentedControl, Select, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Disclosure } from '../../../parts/disclosure';
import { HoursFields } from '../fields/hours-fields';
import { canaryWaves, type JobDraft } from '../job-draft';
import { NumberField } from '../../../parts/number/number-field';
import { refusedAt, refusedIn } from '../refusals';
import { StartFields } from '../fields/start-fields';
import { WaveEditor } from '../fields/wave-editor';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

export function StepPace() {
  const { t } = useTranslation();
  const { draft, change, refusals } = useWizard();
  const { waves } = draft;
  const isOpen = ['maxInFlight', 'priority', 'window'].some((member) => refusedIn(refusals, member) !== undefined);
  return (
    <Stack>
      <div>
        <div className={classes.label} id="waves-label">
          {t('newJob.waves')}
        </div>
        <SegmentedControl
          aria-labelledby="waves-label"
          value={waves.length === 0 ? 'once' : 'waves'}
          onChange={(kind) => change({ waves: kind === 'once' ? [] : canaryWaves })}
          data={(['once', 'waves'] as const).map((value) => ({ value, label: t(`newJob.waveKinds.${value}`) }))}
        />
        <p className={classes.hint}>{t(waves.length === 0 ? 'newJob.onceHint' : 'newJob.wavesHint')}</p>
      </div>
      {waves.length > 0 && <WaveEditor />}
      <NumberField
        label={t('newJob.perMinute')}
        description={t(draft.kind === 'firmware' ? 'newJob.perMinuteRamp' : 'newJob.perMinuteHint')}
        placeholder={t('newJob.noLimit')}
        min={1}
        max={6_000_000}
        w={420}
        value={draft.perMinute}
        error={refusedAt(refusals, 'perMinute')}
        onChange={(perMinute) => change({ perMinute })}
      />
      {draft.kind === 'firmware' && <p className={classes.text}>{t('newJob.downloadsHint')}</p>}
      <StartFields />
      <Disclosure title={t('newJob.advanced')} hint={t('newJob.paceTermsHint')} isOpen={isOpen}>
        <Stack>
          <Load />
          <HoursFields />
        </Stack>
      </Disclosure>
    </Stack>
  );
}

/** What the job may take from the hub and from other jobs. */
function Load() {
  const { t } = useTranslation();
  const { draft, change, refusals } = useWizard();
  return (
    <Group align="flex-start">
      <NumberField
        label={t('newJob.maxInFlight')}
        description={t('newJob.maxInFlightHint')}
        min={1}
        max={10_000}
        fallback={200}
        w={300}
        value={draft.maxInFlight}
        error={refusedAt(refusals, 'maxInFlight')}
        onChange={(maxInFlight = 200) => change({ maxInFlight })}
      />
      <Select
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        label={t('newJob.priority')}
        description={t('newJob.priorityHint')}
        data={(['1', '2', '3'] as const).map((value) => ({ value, label: t(`newJob.priorities.${value}`) }))}
        value={String(draft.priority)}
        error={refusedAt(refusals, 'priority')}
        onChange={(priority) => change({ priority: Number(priority) as JobDraft['priority'] })}
        w={300}
        maw="100%"
      />
    </Group>
  );
}
