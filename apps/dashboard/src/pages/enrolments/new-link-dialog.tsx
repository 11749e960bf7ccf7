/** Makes an enrolment link and shows its address, once. */
import { useTranslation } from 'react-i18next';
import { SecretDialog } from '../../parts/dialog/secret-dialog';
import { NewLinkForm } from './new-link-form';

interface NewLinkDialogProps {
  readonly onClose: () => void;
  readonly onMade: () => void;
}

export function NewLinkDialog({ onClose, onMade }: NewLinkDialogProps) {
  const { t } = useTranslation();
  return (
    <SecretDialog
      title={t('enrolments.newLink')}
      label={t('enrolments.linkUrl')}
      hint={t('enrolments.linkUrlHint')}
      onClose={onClose}
      form={(onCreated) => (
        <NewLinkForm
          onClose={onClose}
          onMade={({ url }) => {
            onCreated(url ?? t('enrolments.noPublicUrl'));
            onMade();
          }}
        />
      )}
    />
  );
}
