/** Approves a device by the code that an operator reads from it, with a name and tags. */
import { type FormEvent, useState } from 'react';
import { Button, Group, Stack, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { MutationFailureNotice } from '../../parts/failure';
import { ConfirmReplacement } from './confirm-replacement';
import { useApproval } from './use-approval';

export function ApproveForm({ onApproved }: { readonly onApproved: () => void }) {
  const { t } = useTranslation();
  const [code, setCode] = useState('');
  const approval = useApproval({ replaces: false, onApproved });
  const { name, setName, tags, setTags, mutation } = approval;
  const approve = async (event: FormEvent) => {
    event.preventDefault();
    if (await approval.approve(code)) setCode('');
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
          <Button type="submit" loading={mutation.isBusy}>
            {t('enrolments.approve')}
          </Button>
        </Group>
        <ConfirmReplacement approval={approval} />
        <MutationFailureNotice failure={mutation.failure} />
      </Stack>
    </form>
  );
}
