/**
 * Jobs that follow this one: its failed targets again, or its devices back to the former firmware.
 */
import { useState } from 'react';
import { IconRefresh, IconRotate2 } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMayCallInJobs, useMayRollOut } from '../../hub/hub';
import { attemptKey, endAttempt } from '../../hub/attempt-key';
import { useHubQuery } from '../../hub/use-hub-query';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { ActButton } from '../../parts/act-button';
import { Confirm } from '../../parts/dialog/confirm';
import { MutationFailureNotice, ReadFailure } from '../../parts/failure';
import { isRollout } from '../../parts/job/is-rollout';
import { useNotify } from '../../parts/use-notify';
import { JobRerunOfferDocument, type JobSeenFragment, RerunJobDocument, RevertJobDocument } from './generated/job';

const failedOutcomes = ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'EXPIRED'] as const;

/** What would fail again in the same way is left out. A disruptive job asks before it starts. */
export function Rerun({ job }: { readonly job: JobSeenFragment }) {
  const { t } = useTranslation();
  const { id, tool, disruptive } = job;
  const navigate = useNavigate();
  const act = useHubMutation(RerunJobDocument, (data) => data.rerunJob.userErrors);
  const [isAsking, setAsking] = useState(false);
  const [mayRollOut, mayCall] = [useMayRollOut(), useMayCallInJobs()];
  const read = useHubQuery({ query: JobRerunOfferDocument, variables: { id } });
  const offer = read.data?.job?.rerunOffer;
  if (isRollout(job) ? !mayRollOut : !mayCall) return null;
  if (!offer) return <ReadFailure read={read} />;
  if (offer.count === 0) return null;
  const rerun = async () => {
    const wanted = { id, outcomes: [...failedOutcomes], exceptCodes: [...offer.exceptCodes] };
    const key = attemptKey(sessionStorage, `rerun.${id}`, wanted);
    const made = (await act.run({ ...wanted, key }))?.rerunJob.job;
    if (!made) return;
    endAttempt(sessionStorage, `rerun.${id}`);
    void navigate({ to: '/jobs/$id', params: { id: made.id } });
  };
  return (
    <>
      {!isAsking && <MutationFailureNotice failure={act.failure} />}
      <ActButton icon={IconRefresh} loading={act.isBusy} onClick={() => (disruptive ? setAsking(true) : void rerun())}>
        {t('job.rerun', { count: offer.count })}
      </ActButton>
      <Confirm
        isOpen={isAsking}
        title={t('job.rerunTitle', { tool, count: offer.count })}
        text={t('job.rerunText')}
        act={t('job.rerun', { count: offer.count })}
        keep={t('keep.unrepeated')}
        isBusy={act.isBusy}
        failure={act.failure}
        onConfirm={() => void rerun()}
        onClose={() => setAsking(false)}
      />
    </>
  );
}

/**
 * A device may run the image regardless of its outcome, so nearly every target may need the revert.
 */
export function Revert({ job: { id, progress } }: { readonly job: JobSeenFragment }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const notify = useNotify();
  const mayRevert = useMayRollOut();
  const [isAsking, setAsking] = useState(false);
  const act = useHubMutation(RevertJobDocument, (data) => data.revertJob.userErrors);
  const sent = progress.succeeded + progress.verifyFailed + progress.unknown;
  const revert = async () => {
    const key = attemptKey(sessionStorage, `revert.${id}`, id);
    const data = await act.run({ id, key });
    const made = data?.revertJob.job;
    if (!made) return;
    endAttempt(sessionStorage, `revert.${id}`);
    const others = data.revertJob.others?.length ?? 0;
    if (others > 0) notify(t('job.revertedInMore', { count: others }));
    void navigate({ to: '/jobs/$id', params: { id: made.id } });
  };
  if (!mayRevert || sent === 0) return null;
  return (
    <>
      <ActButton icon={IconRotate2} onClick={() => setAsking(true)}>
        {t('job.revert')}
      </ActButton>
      <Confirm
        isOpen={isAsking}
        title={t('job.revertTitle')}
        text={t('job.revertText')}
        act={t('job.revert')}
        keep={t('keep.version')}
        isBusy={act.isBusy}
        failure={act.failure}
        onConfirm={() => void revert()}
        onClose={() => setAsking(false)}
      />
    </>
  );
}
