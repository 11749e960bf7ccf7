/** What can be done about a job where it stands. What ends it is confirmed. */
import { useState } from 'react';
import { Button, Menu } from '@mantine/core';
import { IconDownload, IconPlayerPause, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { saveFile } from '../../hub/send-file';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { ActButton } from '../../parts/act-button';
import { Confirm } from '../../parts/dialog/confirm';
import { MutationFailureNotice } from '../../parts/failure';
import { isRollout } from '../../parts/job/is-rollout';
import { useNotify } from '../../parts/use-notify';
import { CancelJobDocument, type JobSeenFragment, PauseJobDocument, ResumeJobDocument } from './generated/job';
import { Rerun, Revert } from './job-successors';

interface SteeringProps {
  readonly job: JobSeenFragment;
  readonly onChanged: (job: JobSeenFragment) => void;
}

interface JobActionsProps extends SteeringProps {
  readonly maySteer: boolean | undefined;
}

export function JobActions({ job, maySteer, onChanged }: JobActionsProps) {
  const mayRun = useScope('JOBS_WRITE');
  return (
    <>
      {maySteer && job.state !== 'FINISHED' && <Steering job={job} onChanged={onChanged} />}
      {mayRun && job.state === 'FINISHED' && <Rerun job={job} />}
      {isRollout(job) && (job.state === 'FINISHED' || job.state === 'PAUSED') && <Revert job={job} />}
      <Export job={job} />
    </>
  );
}

function Steering({ job, onChanged }: SteeringProps) {
  const { t } = useTranslation();
  const pause = useHubMutation(PauseJobDocument, (data) => data.pauseJob.userErrors);
  const resume = useHubMutation(ResumeJobDocument, (data) => data.resumeJob.userErrors);
  const { id, state, pauseReason } = job;
  const show = (changed: JobSeenFragment | null | undefined) => {
    if (changed) onChanged(changed);
  };
  // Only the latest act has a refusal to show.
  const setPaused = async () => {
    resume.reset();
    show((await pause.run({ id }))?.pauseJob.job);
  };
  const setResumed = async () => {
    pause.reset();
    show((await resume.run({ id }))?.resumeJob.job);
  };
  const isAtGate = state === 'PAUSED' && pauseReason === 'WAVE_GATE';
  return (
    <>
      <MutationFailureNotice failure={pause.failure ?? resume.failure} />
      {(state === 'RUNNING' || state === 'PREPARING') && (
        <ActButton icon={IconPlayerPause} loading={pause.isBusy} onClick={() => void setPaused()}>
          {t('job.pause')}
        </ActButton>
      )}
      {state === 'PAUSED' && !isAtGate && (
        <Button
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          loading={resume.isBusy}
          onClick={() => void setResumed()}
        >
          {t('job.resume')}
        </Button>
      )}
      {state !== 'CANCELLING' && <Cancel job={job} onChanged={onChanged} />}
    </>
  );
}

function Cancel({ job: { id }, onChanged }: SteeringProps) {
  const { t } = useTranslation();
  const [isAsking, setAsking] = useState(false);
  const act = useHubMutation(CancelJobDocument, (data) => data.cancelJob.userErrors);
  const cancel = async () => {
    const data = await act.run({ id });
    if (data?.cancelJob.job) onChanged(data.cancelJob.job);
    if (data) setAsking(false);
  };
  return (
    <>
      <ActButton icon={IconPlayerStop} onClick={() => setAsking(true)}>
        {t('job.cancel')}
      </ActButton>
      <Confirm
        isOpen={isAsking}
        title={t('job.cancelTitle')}
        text={t('job.cancelText')}
        act={t('job.cancel')}
        keep={t('keep.running')}
        isBusy={act.isBusy}
        failure={act.failure}
        onConfirm={() => void cancel()}
        onClose={() => setAsking(false)}
      />
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
        <ActButton icon={IconDownload} loading={isSaving}>
          {t('job.export')}
        </ActButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void save('csv')}>{t('job.csv')}</Menu.Item>
        <Menu.Item onClick={() => void save('jsonl')}>{t('job.jsonl')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
