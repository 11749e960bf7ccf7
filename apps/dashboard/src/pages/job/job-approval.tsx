/** A job with a disruptive tool is let go, or denied with a reason, by another than its maker. */
import { useState } from 'react';
import { Button, Group, Stack, Textarea } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ActButton } from '../../parts/act-button';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { ApproveJobDocument, DenyJobDocument, type JobSeenFragment } from './generated/job';

interface JobApprovalProps {
  readonly job: JobSeenFragment;
  readonly onChanged: (job: JobSeenFragment) => void;
}

export function JobApproval({ job, onChanged }: JobApprovalProps) {
  const { t } = useTranslation();
  const [isDenying, setDenying] = useState(false);
  const act = useHubMutation(ApproveJobDocument, (data) => data.approveJob.userErrors);
  const approve = async () => {
    const approved = (await act.run({ id: job.id }))?.approveJob.job;
    if (approved) onChanged(approved);
  };
  const { approvalScopeMissing: scope } = job;
  if (job.createdByViewer) return null;
  return (
    <Stack gap="sm">
      <MutationFailureNotice failure={act.failure} />
      {scope !== null && <p>{t('job.approveNeeds', { scope })}</p>}
      <Group gap="xs">
        {scope === null && (
          <Button leftSection={<IconCheck size={16} aria-hidden />} loading={act.isBusy} onClick={() => void approve()}>
            {t('job.approve')}
          </Button>
        )}
        <ActButton icon={IconX} onClick={() => setDenying(true)}>
          {t('job.deny')}
        </ActButton>
      </Group>
      {isDenying && <Denial job={job} onChanged={onChanged} onClose={() => setDenying(false)} />}
    </Stack>
  );
}

function Denial({ job, onChanged, onClose }: JobApprovalProps & { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [reason, setReason] = useState('');
  const [isTried, setTried] = useState(false);
  const act = useHubMutation(DenyJobDocument, (data) => data.denyJob.userErrors);
  const deny = async () => {
    setTried(true);
    if (reason.trim() === '') return;
    const denied = (await act.run({ id: job.id, reason: reason.trim() }))?.denyJob.job;
    if (!denied) return;
    onChanged(denied);
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={t('job.denyTitle')}>
      <DialogForm
        action={t('job.deny')}
        keep={t('keep.undecided')}
        color="red"
        onSubmit={deny}
        onCancel={onClose}
        mutations={[act]}
      >
        <Textarea
          label={t('job.denyReason')}
          description={t('job.denyReasonHint')}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={isTried && reason.trim() === '' && t('job.denyReasonMissing')}
          data-autofocus
          maxLength={500}
          autosize
          minRows={2}
        />
      </DialogForm>
    </Dialog>
  );
}
