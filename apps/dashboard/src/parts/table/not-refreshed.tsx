/** Says which rows of a long list are not read again by themselves; reads them on request. */
import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface NotRefreshedProps {
  /** Up to so many rows it is read again by itself. */
  readonly most: number;
  /** So many rows are read again also of a longer list. */
  readonly isFirstRefreshed?: boolean;
  readonly isLoading: boolean;
  readonly onRefresh: () => void;
}

export function NotRefreshed({ most, isFirstRefreshed = false, isLoading, onRefresh }: NotRefreshedProps) {
  const { t } = useTranslation();
  return (
    <Group gap="xs">
      <span className="soft">{t(isFirstRefreshed ? 'common.restNotRefreshed' : 'common.notRefreshed', { most })}</span>
      <Button size="compact-xs" variant="default" loading={isLoading} onClick={onRefresh}>
        {t('common.refresh')}
      </Button>
    </Group>
  );
}
