/** Ends all sessions of a person after a confirmation. */
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSession } from '../hub/hub';
import { Confirm } from '../parts/dialog/confirm';

export function SignOutEverywhere({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const session = useSession();
  const [isBusy, setBusy] = useState(false);
  const [isUncertain, setUncertain] = useState(false);
  const signOut = async () => {
    setBusy(true);
    setUncertain(!(await session.signOutEverywhere()));
    setBusy(false);
  };
  return (
    <Confirm
      isOpen
      title={t('app.signOutEverywhere')}
      text={t('account.everywhereText')}
      act={t('app.signOutEverywhere')}
      keep={t('keep.signedIn')}
      isBusy={isBusy}
      onConfirm={() => void signOut()}
      onClose={onClose}
      failure={isUncertain ? { messages: [t('account.everywhereFailed')], codes: [], isUncertain } : undefined}
    />
  );
}
