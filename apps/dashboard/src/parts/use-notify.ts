/**
 * A short notification of success that disappears. Failures are shown next to their button instead.
 */
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

export function useNotify(): (message: string) => void {
  const { t } = useTranslation();
  return useCallback(
    (message) =>
      // The page has begun to load these scripts. What they say is also on the page.
      void import('@mantine/notifications').then(
        ({ notifications }) => notifications.show({ message, closeButtonProps: { 'aria-label': t('common.close') } }),
        () => undefined,
      ),
    [t],
  );
}
