/**
 * Approves a device by its code, with a name and tags. Replacing a known device needs confirmation.
 */
import { type FormEvent, useState } from 'react';
import { Button, Checkbox, Group, Stack, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { useNotify } from '../../parts/use-notify';
import { ApproveEnrolmentDocument, type EnrolmentsQuery } from './generated/enrolments';

export interface ApproveFormProps {
  /** The selected row; without one, the operator types the code from the device. */
  readonly enrolment?: EnrolmentsQuery['enrolments']['nodes'][number] | undefined;
  readonly onApproved: () => void;
}

export function ApproveForm({ enrolment, onApproved }: ApproveFormProps) {
  const { t } = useTranslation();
  const [code, setCode] = useState(enrolment?.code ?? '');
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const [isConfirmed, setConfirmed] = useState(false);
  const notify = useNotify();
  const act = useHubMutation(ApproveEnrolmentDocument, (data) => data.approveEnrolment.userErrors);
  const needsConfirming = (enrolment?.replaces ?? false) || (act.failure?.codes.includes('CONFLICT') ?? false);

  const approve = async (event: FormEvent) => {
    event.preventDefault();
    const data = await act.run({ code: code.trim(), name: name.trim() || null, tags, confirm: isConfirmed });
    const device = data?.approveEnrolment.device;
    if (!device) return;
    notify(t('enrolments.approved', { device: device.name ?? device.id }));
    setCode('');
    setName('');
    setTags([]);
    setConfirmed(false);
    onApproved();
  };

  return (
    <form onSubmit={(event) => void approve(event)}>
      <Stack>
        <Group align="flex-end" wrap="wrap">
          <TextInput
            label={t('enrolments.code')}
            title={t('enrolments.codeHint')}
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            inputMode="numeric"
            autoComplete="off"
            maw={130}
            required
          />
          <TextInput
            label={t('enrolments.name')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            flex="1 1 180px"
          />
          <TagsInput
            label={t('enrolments.tags')}
            placeholder={tags.length === 0 ? t('enrolments.tagsHint') : ''}
            value={tags}
            onChange={setTags}
            flex="1 1 200px"
          />
          <Button type="submit" loading={act.isBusy}>
            {t('enrolments.approve')}
          </Button>
        </Group>
        {needsConfirming && (
          <Checkbox
            label={t('enrolments.replaces')}
            description={t('enrolments.replacesText')}
            checked={isConfirmed}
            onChange={(event) => setConfirmed(event.currentTarget.checked)}
          />
        )}
        <MutationFailureNotice failure={act.failure} />
      </Stack>
    </form>
  );
}
