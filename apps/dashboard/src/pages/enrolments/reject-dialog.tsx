/** Rejects a waiting device: it may ask again, or is blocked for a day or without an end. */
import { useState } from 'react';
import { Radio, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useNotify } from '../../parts/use-notify';
import { BlockBoardDocument, type EnrolmentsQuery, RejectEnrolmentDocument } from './generated/enrolments';

interface RejectDialogProps {
  readonly enrolment: EnrolmentsQuery['enrolments']['nodes'][number];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const lengths = ['once', 'day', 'ever'] as const;
type Length = (typeof lengths)[number];
const dayMs = 86_400_000;

export function RejectDialog({ enrolment: { id, deviceId }, onClose, onDone }: RejectDialogProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [length, setLength] = useState<Length>('once');
  const reject = useHubMutation(RejectEnrolmentDocument, (data) => data.rejectEnrolment.userErrors);
  const block = useHubMutation(BlockBoardDocument, (data) => data.blockBoard.userErrors);
  const isBlock = length !== 'once';
  const until = length === 'day' ? new Date(Date.now() + dayMs).toISOString() : null;
  const submit = async () => {
    // The form shows the refusal of the latest act only.
    (isBlock ? reject : block).reset();
    const done = isBlock ? await block.run({ deviceId, until }) : await reject.run({ id });
    if (!done) return;
    notify(t(isBlock ? 'enrolments.blocked' : 'enrolments.rejected', { device: deviceId }));
    onClose();
    onDone();
  };
  return (
    <Dialog title={t('enrolments.rejectTitle')} onClose={onClose}>
      <DialogForm
        action={t(isBlock ? 'enrolments.block' : 'enrolments.reject')}
        keep={t('keep.waiting')}
        color="red"
        onSubmit={submit}
        onCancel={onClose}
        mutations={[reject, block]}
      >
        <Radio.Group
          label={t('enrolments.rejectHow', { device: deviceId })}
          value={length}
          onChange={(value) => setLength(value as Length)}
        >
          <Stack gap="xs" mt="xs">
            {lengths.map((value) => (
              <Radio key={value} value={value} label={t(`enrolments.rejectFor.${value}`)} />
            ))}
          </Stack>
        </Radio.Group>
        <Text size="sm" c="dimmed">
          {t(isBlock ? 'enrolments.blockText' : 'enrolments.rejectText', { device: deviceId })}
        </Text>
      </DialogForm>
    </Dialog>
  );
}
