/** Says that a list is too long to be read again by itself, and reads it again on request. */
import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface NotRefreshedProps {
  /** Up to so many rows it is read again by itself. */
  readonly most: number;
  readonly isLoading: boolean;
  readonly onRefresh: () => void;
}

export function NotRefreshed({ most, isLoading, onRefresh }: NotRefreshedProps) {
  const { t } = useTranslation();
  return (
    <Group gap="xs">
      <span className="soft">{t('common.notRefreshed', { most })}</span>
      <Button size="compact-xs" variant="default" loading={isLoading} onClick={onRefresh}>
        {t('common.refresh')}
      </Button>
    </Group>
  );
}
