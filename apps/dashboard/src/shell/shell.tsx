/**
 * The frame of all pages: skip link, navigation, account menu, and the banner for a lost
 * connection.
 */
import { type ReactNode, useEffect, useState } from 'react';
import { ActionIcon, Drawer } from '@mantine/core';
import { IconMenu2 } from '@tabler/icons-react';
import { Link, useRouterState } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useViewer } from '../hub/hub';
import { AccountMenu } from './account-menu';
import { AlertInbox } from './alert-inbox';
import { Banners } from './banners';
import { Mark } from './mark';
import { navigation } from './navigation';
import classes from './shell.module.css';

export function Shell({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <>
      <a className={classes.skip} href="#content">
        {t('app.skip')}
      </a>
      <Banners />
      <TopBar />
      <div className={classes.shell}>
        <div className={classes.rail}>
          <div className={classes.head}>
            <Brand />
            <AlertInbox />
          </div>
          <Links />
          <AccountMenu />
        </div>
        <main className={classes.main} id="content" tabIndex={-1}>
          <div className={classes.content}>{children}</div>
        </main>
      </div>
    </>
  );
}

function Brand() {
  const { t } = useTranslation();
  return (
    <Link to="/" className={classes.brand}>
      <Mark size={22} />
      {t('app.name')}
    </Link>
  );
}

function Links() {
  const { t } = useTranslation();
  const { scopes } = useViewer();
  const shown = navigation.filter(({ scope }) => scopes.includes(scope) || scopes.includes('ADMIN'));
  return (
    <nav aria-label={t('app.navigation')} style={{ display: 'contents' }}>
      <ul className={classes.links}>
        {shown.map(({ name, to, icon: Shape }) => (
          <li key={name} className={name === 'alerts' || name === 'access' ? classes.gapBefore : undefined}>
            <Link to={to} className={classes.link} activeOptions={{ exact: to === '/', includeSearch: false }}>
              <Shape size={17} stroke={1.7} aria-hidden />
              {t(`nav.${name}`)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** In place of the rail on narrow screens. */
function TopBar() {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setOpen(false), [path]);
  return (
    <div className={classes.bar}>
      <ActionIcon aria-label={t('app.openNavigation')} onClick={() => setOpen(true)} size="lg">
        <IconMenu2 size={20} aria-hidden />
      </ActionIcon>
      <Brand />
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        size={280}
        title={t('app.navigation')}
        closeButtonProps={{ 'aria-label': t('app.closeNavigation') }}
      >
        <div className={`${classes.rail} ${classes.drawerRail}`}>
          <Links />
          <AccountMenu />
        </div>
      </Drawer>
    </div>
  );
}
