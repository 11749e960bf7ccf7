/**
 * A short notification of success that disappears. Failures are shown next to their button instead.
 */
import { useCallback } from 'react';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';

export function useNotify(): (message: string) => void {
  const { t } = useTranslation();
  return useCallback(
    (message) => void notifications.show({ message, closeButtonProps: { 'aria-label': t('common.close') } }),
    [t],
  );
}
