/** A job with a disruptive tool is let go, or denied with a reason, by another than its maker. */
import { type FormEvent, useState } from 'react';
import { Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { ApproveJobDocument, DenyJobDocument, type JobSeenFragment } from './generated/job';

interface JobApprovalProps {
  readonly job: JobSeenFragment;
  readonly onChanged: (job: JobSeenFragment) => void;
}

export function JobApproval({ job, onChanged }: JobApprovalProps) {
  const { t } = useTranslation();
  const mayRun = useScope('JOBS_WRITE');
  const [isDenying, setDenying] = useState(false);
  const act = useHubMutation(ApproveJobDocument, (data) => data.approveJob.userErrors);
  const approve = async () => {
    const approved = (await act.run({ id: job.id }))?.approveJob.job;
    if (approved) onChanged(approved);
  };
  if (!mayRun) return null;
  return (
    <Stack gap="sm">
      <MutationFailureNotice failure={act.failure} />
      <Group gap="xs">
        <Button leftSection={<IconCheck size={16} />} loading={act.isBusy} onClick={() => void approve()}>
          {t('job.approve')}
        </Button>
        <Button variant="default" leftSection={<IconX size={16} />} onClick={() => setDenying(true)}>
          {t('job.deny')}
        </Button>
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
  const deny = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (reason.trim() === '') return;
    const denied = (await act.run({ id: job.id, reason: reason.trim() }))?.denyJob.job;
    if (!denied) return;
    onChanged(denied);
    onClose();
  };
  return (
    <Modal opened onClose={onClose} title={t('job.denyTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={(event) => void deny(event)}>
        <Stack>
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
          <MutationFailureNotice failure={act.failure} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" color="red" loading={act.isBusy}>
              {t('job.deny')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
