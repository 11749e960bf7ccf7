/** The navigation on narrow screens, over the page. Loads when it is opened for the first time. */
import type { ReactNode } from 'react';
import { Drawer } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export interface NavigationDrawerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function NavigationDrawer({ isOpen, onClose, children }: NavigationDrawerProps) {
  const { t } = useTranslation();
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      size={280}
      title={t('app.navigation')}
      closeButtonProps={{ 'aria-label': t('app.closeNavigation') }}
    >
      {children}
    </Drawer>
  );
}
