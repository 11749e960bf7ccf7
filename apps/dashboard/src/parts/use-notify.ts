/** A word on what was done, which goes away by itself. Failures stand beside their button instead. */
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
