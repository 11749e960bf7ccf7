/** Why a job does not go on by itself, and what would let it. */
import { Alert, Button, Group } from '@mantine/core';
import { IconHandStop, IconPlayerPlay, IconUserQuestion } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useAct } from '../../hub/use-act';
import { ActFailureNotice } from '../../parts/failure';
import { type JobSeenFragment, OpenNextWaveDocument } from './generated/job';
import { JobApproval } from './job-approval';

interface JobStandProps {
  readonly job: JobSeenFragment;
  readonly onChanged: (job: JobSeenFragment) => void;
}

export function JobStand({ job, onChanged }: JobStandProps) {
  const { t } = useTranslation();
  const isAtGate = job.state === 'PAUSED' && job.pauseReason === 'WAVE_GATE';
  return (
    <>
      {job.state === 'AWAITING_APPROVAL' && (
        <Alert color="accent" icon={<IconUserQuestion size={18} />} title={t('job.awaiting')}>
          <p>{t('job.awaitingText', { by: job.createdBy })}</p>
          <JobApproval job={job} onChanged={onChanged} />
        </Alert>
      )}
      {isAtGate && <Gate job={job} onChanged={onChanged} />}
      {job.trippedRule && <Tripped job={job} rule={job.trippedRule} />}
    </>
  );
}

function Gate({ job, onChanged }: JobStandProps) {
  const { t, i18n } = useTranslation();
  const mayRun = useScope('JOBS_WRITE');
  const act = useAct(OpenNextWaveDocument, (data) => data.openNextWave.userErrors);
  const wave = job.waves.find(({ number }) => number === job.currentWave);
  const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 1 });
  const share = wave && wave.decided > 0 ? wave.succeeded / wave.decided : 0;
  const open = async () => {
    const opened = (await act.run({ id: job.id }))?.openNextWave.job;
    if (opened) onChanged(opened);
  };
  return (
    <Alert color="accent" icon={<IconHandStop size={18} />} title={t('job.atGate', { wave: job.currentWave })}>
      {wave && (
        <p>
          {t(share < wave.successThreshold ? 'job.atGateMissed' : 'job.atGateText', {
            share: percent.format(share),
            least: percent.format(wave.successThreshold),
          })}
        </p>
      )}
      <ActFailureNotice failure={act.failure} />
      {mayRun && (
        <Group>
          <Button leftSection={<IconPlayerPlay size={16} />} loading={act.isBusy} onClick={() => void open()}>
            {t('job.nextWave')}
          </Button>
        </Group>
      )}
    </Alert>
  );
}

interface TrippedProps {
  readonly job: JobSeenFragment;
  readonly rule: NonNullable<JobSeenFragment['trippedRule']>;
}

function Tripped({ job, rule }: TrippedProps) {
  const { t, i18n } = useTranslation();
  const list = new Intl.ListFormat(i18n.language, { type: 'disjunction' });
  const outcomes = list.format(rule.outcomes.map((outcome) => t(`outcome.${outcome}`)));
  const isStanding = job.state === 'PAUSED' && job.pauseReason === 'ABORT_RULE';
  return (
    <Alert color="red" icon={<IconHandStop size={18} />} title={t('job.tripped', { wave: rule.wave })}>
      <p>{t('job.trippedText', { failed: rule.failed, count: rule.decided, outcomes })}</p>
      {isStanding && <p>{t(job.firmwareImage === null ? 'job.trippedNext' : 'job.trippedNextImage')}</p>}
    </Alert>
  );
}
