/** What a person adds to a device with its approval, and confirms if it replaces a known one. */
import { Checkbox, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Approval } from './use-approval';

interface ApprovalFieldsProps {
  readonly approval: Approval;
  /** The dialog has no field before these. */
  readonly isFirst?: boolean;
}

export function ApprovalFields({ approval, isFirst = false }: ApprovalFieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      <TextInput
        label={t('enrolments.name')}
        value={approval.name}
        onChange={(event) => approval.setName(event.currentTarget.value)}
        {...(isFirst && { 'data-autofocus': true })}
      />
      <TagsInput
        label={t('enrolments.tags')}
        placeholder={approval.tags.length === 0 ? t('enrolments.tagsHint') : ''}
        value={approval.tags}
        onChange={approval.setTags}
        acceptValueOnBlur
      />
      {approval.needsConfirming && (
        <Checkbox
          label={t('enrolments.replaces')}
          description={t('enrolments.replacesText')}
          checked={approval.isConfirmed}
          onChange={(event) => approval.setConfirmed(event.currentTarget.checked)}
        />
      )}
    </>
  );
}
