/** Why a job does not go on by itself, and what would let it. */
import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { type Icon, IconHandStop, IconLock, IconPlayerPlay, IconUserQuestion } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useIsLimited, useScope } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { isRollout } from '../../parts/job/is-rollout';
import { stopCause } from '../../parts/job/stop-cause';
import { Time } from '../../parts/time/time';
import { type JobSeenFragment, OpenNextWaveDocument } from './generated/job';
import { JobApproval } from './job-approval';
import classes from './job.module.css';
import { shareFormat } from './share-format';

interface JobStatusProps {
  readonly job: JobSeenFragment;
  /** Undefined until the hub has said it. */
  readonly maySteer: boolean | undefined;
  readonly onChanged: (job: JobSeenFragment) => void;
}

export function JobStatus({ job, maySteer, onChanged }: JobStatusProps) {
  const { t } = useTranslation();
  const mayRun = useScope('JOBS_WRITE');
  const cause = stopCause(job);
  const isLimited = useIsLimited();
  const isAtGate = job.state === 'PAUSED' && job.pauseReason === 'WAVE_GATE';
  return (
    <>
      {job.state === 'AWAITING_APPROVAL' && (
        <Notice icon={IconUserQuestion} title={t('job.awaiting')}>
          <p>{t('job.awaitingText', { by: job.createdBy })}</p>
          {job.approvalTargetCount !== null && <p>{t('job.awaitingTargets', { count: job.approvalTargetCount })}</p>}
          {maySteer && <JobApproval job={job} onChanged={onChanged} />}
        </Notice>
      )}
      {isAtGate && <Gate job={job} maySteer={maySteer} onChanged={onChanged} />}
      {job.trippedRule && cause === 'ABORT_RULE' && <Tripped job={job} rule={job.trippedRule} />}
      {job.trippedHealthGate && cause === 'HEALTH_GATE' && <Unhealthy job={job} counts={job.trippedHealthGate} />}
      {job.conclusion === 'ABORTED' && cause === undefined && (
        <Notice isBad icon={IconHandStop} title={t('job.stopped')}>
          {/* The hub hides from limited keys why a job of another was stopped. */}
          {isRollout(job) && !isLimited && (
            <p>
              {job.firmwareImage ? t('job.unsigned', { version: job.firmwareImage.version }) : t('job.unsignedHidden')}
            </p>
          )}
        </Notice>
      )}
      {mayRun && maySteer === false && job.state !== 'CANCELLING' && job.state !== 'FINISHED' && (
        <Notice icon={IconLock} title={t('job.beyondKey')}>
          <p>{t('job.beyondKeyText')}</p>
        </Notice>
      )}
    </>
  );
}

function Gate({ job, maySteer, onChanged }: JobStatusProps) {
  const { t, i18n } = useTranslation();
  const act = useHubMutation(OpenNextWaveDocument, (data) => data.openNextWave.userErrors);
  const wave = job.waves.find(({ number }) => number === job.currentWave);
  const percent = shareFormat(i18n.language);
  const open = async () => {
    const opened = (await act.run({ id: job.id }))?.openNextWave.job;
    if (opened) onChanged(opened);
  };
  return (
    <Notice icon={IconHandStop} title={t(maySteer ? 'job.atGate' : 'job.atGateOnly', { wave: job.currentWave })}>
      {wave && wave.successShare !== null && (
        <p>
          {t(wave.successShare < wave.successThreshold ? 'job.atGateMissed' : 'job.atGateText', {
            share: percent.format(wave.successShare),
            least: percent.format(wave.successThreshold),
          })}
        </p>
      )}
      <MutationFailureNotice failure={act.failure} />
      {maySteer && (
        <Button leftSection={<IconPlayerPlay size={16} aria-hidden />} loading={act.isBusy} onClick={() => void open()}>
          {t('job.nextWave')}
        </Button>
      )}
    </Notice>
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
  return (
    <Notice isBad icon={IconHandStop} title={t('job.tripped', { wave: rule.wave })}>
      <p>{t('job.trippedText', { failed: rule.failed, count: rule.decided, outcomes })}</p>
      {job.state === 'PAUSED' && <p>{t(isRollout(job) ? 'job.trippedNextImage' : 'job.trippedNext')}</p>}
    </Notice>
  );
}

interface UnhealthyProps {
  readonly job: JobSeenFragment;
  readonly counts: NonNullable<JobSeenFragment['trippedHealthGate']>;
}

/** The health gate compares restarts of the new version with those of the devices without it. */
function Unhealthy({ job, counts }: UnhealthyProps) {
  const { t, i18n } = useTranslation();
  const hours = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  const { version, restarts, deviceHours, baselineRestarts, baselineDeviceHours, at } = counts;
  return (
    <Notice isBad icon={IconHandStop} title={t('job.unhealthy', { version })}>
      <p>
        {t('job.unhealthyNew', { count: restarts, version, hours: hours.format(deviceHours) })}{' '}
        {t('job.unhealthyOld', { count: baselineRestarts, hours: hours.format(baselineDeviceHours) })}
        <span className="soft">
          {t('mark.open')}
          <Time at={at} />
          {t('mark.close')}
        </span>
      </p>
      {job.state === 'PAUSED' && <p>{t('job.unhealthyNext')}</p>}
    </Notice>
  );
}

interface NoticeProps {
  readonly icon: Icon;
  readonly title: string;
  readonly isBad?: boolean;
  readonly children: ReactNode;
}

function Notice({ icon: Shape, title, isBad = false, children }: NoticeProps) {
  return (
    <section className={classes.stand} data-bad={isBad || undefined} aria-label={title}>
      <Shape size={18} className={classes.standIcon} aria-hidden />
      <div className={classes.standBody}>
        <h2 className={classes.standTitle}>{title}</h2>
        {children}
      </div>
    </section>
  );
}
