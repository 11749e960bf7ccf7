/** Asks for a confirmation if the approval replaces a known device. */
import { Checkbox } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Approval } from './use-approval';

export function ConfirmReplacement({ approval }: { readonly approval: Approval }) {
  const { t } = useTranslation();
  if (!approval.needsConfirming) return null;
  return (
    <Checkbox
      label={t('enrolments.replaces')}
      description={t('enrolments.replacesText')}
      checked={approval.isConfirmed}
      onChange={(event) => approval.setConfirmed(event.currentTarget.checked)}
    />
  );
}
