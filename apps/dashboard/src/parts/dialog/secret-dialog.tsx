/** A dialog that shows a secret once, after the form that creates it. */
import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog';
import { Secret, type SecretProps } from './secret';

interface SecretDialogProps extends Omit<SecretProps, 'value'> {
  readonly title: string;
  /** Shown until `onCreated` receives the secret. */
  readonly form: (onCreated: (secret: string) => void) => ReactNode;
}

export function SecretDialog({ title, label, hint, onClose, form }: SecretDialogProps) {
  const [secret, setSecret] = useState<string>();
  return (
    <Dialog title={title} onClose={onClose} isSticky={secret !== undefined}>
      {secret === undefined ? form(setSecret) : <Secret {...{ label, hint, onClose }} value={secret} />}
    </Dialog>
  );
}
