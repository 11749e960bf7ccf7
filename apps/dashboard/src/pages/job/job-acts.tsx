/** What can be done about a job where it stands. What ends it is confirmed. */
import { useState } from 'react';
import { Button, Menu } from '@mantine/core';
import { IconDownload, IconPlayerPause, IconPlayerPlay, IconPlayerStop, IconRefresh, IconRotate2 } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { newIdempotencyKey } from '../../hub/idempotency-key';
import { saveFile } from '../../hub/send-file';
import { useAct } from '../../hub/use-act';
import { Confirm } from '../../parts/confirm';
import { ActFailureNotice } from '../../parts/failure';
import { useNotify } from '../../parts/use-notify';
import {
  ApproveJobDocument,
  CancelJobDocument,
  type JobSeenFragment,
  OpenNextWaveDocument,
  PauseJobDocument,
  RerunJobDocument,
  ResumeJobDocument,
  RevertJobDocument,
} from './generated/job';

interface JobActsProps {
  readonly job: JobSeenFragment;
  readonly onChanged: (job: JobSeenFragment) => void;
}

const failedOutcomes = ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'EXPIRED'] as const;

export function JobActs({ job, onChanged }: JobActsProps) {
  const mayRun = useScope('JOBS_WRITE');
  return (
    <>
      {mayRun && job.state !== 'FINISHED' && <Steering job={job} onChanged={onChanged} />}
      {mayRun && job.state === 'FINISHED' && <Successors job={job} />}
      <Export job={job} />
    </>
  );
}

function Steering({ job, onChanged }: JobActsProps) {
  const { t } = useTranslation();
  const pause = useAct(PauseJobDocument, (data) => data.pauseJob.userErrors);
  const resume = useAct(ResumeJobDocument, (data) => data.resumeJob.userErrors);
  const next = useAct(OpenNextWaveDocument, (data) => data.openNextWave.userErrors);
  const approve = useAct(ApproveJobDocument, (data) => data.approveJob.userErrors);
  const { id, state, pauseReason } = job;
  const show = (changed: JobSeenFragment | null | undefined) => {
    if (changed) onChanged(changed);
  };
  const isAtGate = state === 'PAUSED' && pauseReason === 'WAVE_GATE';
  return (
    <>
      <ActFailureNotice failure={pause.failure ?? resume.failure ?? next.failure ?? approve.failure} />
      {(state === 'RUNNING' || state === 'PREPARING' || state === 'SCHEDULED') && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          loading={pause.isBusy}
          onClick={() => void pause.run({ id }).then((data) => show(data?.pauseJob.job))}
        >
          {t('job.pause')}
        </Button>
      )}
      {state === 'PAUSED' && !isAtGate && (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={resume.isBusy}
          onClick={() => void resume.run({ id }).then((data) => show(data?.resumeJob.job))}
        >
          {t('job.resume')}
        </Button>
      )}
      {isAtGate && (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={next.isBusy}
          onClick={() => void next.run({ id }).then((data) => show(data?.openNextWave.job))}
        >
          {t('job.nextWave')}
        </Button>
      )}
      {state === 'AWAITING_APPROVAL' && (
        <Button loading={approve.isBusy} onClick={() => void approve.run({ id }).then((data) => show(data?.approveJob.job))}>
          {t('job.approve')}
        </Button>
      )}
      {state !== 'CANCELLING' && <Cancel job={job} onChanged={onChanged} />}
    </>
  );
}

function Cancel({ job: { id }, onChanged }: JobActsProps) {
  const { t } = useTranslation();
  const [isAsking, setAsking] = useState(false);
  const act = useAct(CancelJobDocument, (data) => data.cancelJob.userErrors);
  const cancel = async () => {
    const data = await act.run({ id });
    if (data?.cancelJob.job) onChanged(data.cancelJob.job);
    if (data) setAsking(false);
  };
  return (
    <>
      <Button variant="default" leftSection={<IconPlayerStop size={16} />} onClick={() => setAsking(true)}>
        {t('job.cancel')}
      </Button>
      <Confirm
        isOpen={isAsking}
        title={t('job.cancelTitle')}
        text={t('job.cancelText')}
        act={t('job.cancel')}
        isBusy={act.isBusy}
        onConfirm={() => void cancel()}
        onClose={() => setAsking(false)}
      >
        <ActFailureNotice failure={act.failure} />
      </Confirm>
    </>
  );
}

/** Jobs that come after this one: its failed targets again, or back to the firmware before. */
function Successors({ job: { id, progress, firmwareImage } }: { readonly job: JobSeenFragment }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayRevert = useScope('FIRMWARE_WRITE');
  const [isAsking, setAsking] = useState(false);
  // One key for each act on this page: a second press after a lost answer makes no second job.
  const [keys] = useState(() => ({ rerun: newIdempotencyKey(), revert: newIdempotencyKey() }));
  const rerun = useAct(RerunJobDocument, (data) => data.rerunJob.userErrors);
  const revert = useAct(RevertJobDocument, (data) => data.revertJob.userErrors);
  const bad = progress.failed + progress.rejected + progress.verifyFailed + progress.unknown + progress.expired;
  const go = (made: { readonly id: string } | null | undefined) => {
    if (made) void navigate({ to: '/jobs/$id', params: { id: made.id } });
  };
  const revertIt = async () => {
    const data = await revert.run({ id, key: keys.revert });
    go(data?.revertJob.job);
  };
  return (
    <>
      <ActFailureNotice failure={rerun.failure} />
      {bad > 0 && (
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} />}
          loading={rerun.isBusy}
          onClick={() => void rerun.run({ id, outcomes: [...failedOutcomes], key: keys.rerun }).then((data) => go(data?.rerunJob.job))}
        >
          {t('job.rerun', { count: bad })}
        </Button>
      )}
      {firmwareImage !== null && mayRevert && progress.succeeded > 0 && (
        <Button variant="default" leftSection={<IconRotate2 size={16} />} onClick={() => setAsking(true)}>
          {t('job.revert')}
        </Button>
      )}
      <Confirm
        isOpen={isAsking}
        title={t('job.revertTitle')}
        text={t('job.revertText')}
        act={t('job.revert')}
        isBusy={revert.isBusy}
        onConfirm={() => void revertIt()}
        onClose={() => setAsking(false)}
      >
        <ActFailureNotice failure={revert.failure} />
      </Confirm>
    </>
  );
}

function Export({ job: { id } }: { readonly job: JobSeenFragment }) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [isSaving, setSaving] = useState(false);
  const save = async (format: 'csv' | 'jsonl') => {
    setSaving(true);
    const isSaved = await saveFile(`/api/jobs/${id}/results.${format}`, `job-${id}.${format}`);
    setSaving(false);
    if (!isSaved) notify(t('job.notExported'));
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />} loading={isSaving}>
          {t('job.export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void save('csv')}>{t('job.csv')}</Menu.Item>
        <Menu.Item onClick={() => void save('jsonl')}>{t('job.jsonl')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
