/**
 * The frame of all pages: skip link, navigation, account menu, and the banners for a lost
 * connection, a newer console, and a part of the page that did not load.
 */
import { type MouseEvent, type ReactNode, Suspense, useEffect, useState } from 'react';
import { ActionIcon, Kbd } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconMenu2, IconSearch } from '@tabler/icons-react';
import { Link, useRouterState } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useViewer } from '../hub/hub';
import { lazyPart } from '../parts/lazy-part';
import { Banners } from './banners';
import { Keyboard, useKeyboard } from './keyboard/keyboard';
import { controlName } from './keyboard/control-name';
import { Mark } from './mark';
import { navigationFor } from './navigation';
import classes from './shell.module.css';
import { ViewLinks } from './view-links';

/** What opens on demand is not part of the first load. */
const AccountMenu = lazyPart(() => import('./account-menu').then((part) => part.AccountMenu));
const AlertInbox = lazyPart(() => import('./alert-inbox').then((part) => part.AlertInbox));
const NavigationDrawer = lazyPart(() => import('./navigation-drawer').then((part) => part.NavigationDrawer));

export function Shell({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation();
  // One inbox at a time: each has a query, a subscription and the count in the title.
  const isNarrow = useMediaQuery('(max-width: 820px)', undefined, { getInitialValueInEffect: false });
  const inbox = (
    <Suspense>
      <AlertInbox />
    </Suspense>
  );
  return (
    <Keyboard>
      <a className={classes.skip} href="#content">
        {t('app.skip')}
      </a>
      <TopBar inbox={isNarrow && inbox} />
      <div className={classes.shell}>
        <div className={classes.rail}>
          <div className={classes.head}>
            <Brand />
            {!isNarrow && inbox}
          </div>
          <FindButton />
          <Links />
          <Suspense>
            <AccountMenu />
          </Suspense>
        </div>
        <div className={classes.column}>
          <Banners />
          <main className={classes.main} id="content" tabIndex={-1}>
            <div className={classes.content}>{children}</div>
          </main>
        </div>
      </div>
    </Keyboard>
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

/** Opens the palette; also for people who do not know its shortcut. */
function FindButton() {
  const { t } = useTranslation();
  const open = useKeyboard();
  return (
    <button type="button" className={classes.find} onClick={() => open('palette')} aria-keyshortcuts="Control+K Meta+K">
      <IconSearch size={15} aria-hidden />
      <span className={classes.findText}>{t('palette.act')}</span>
      <Kbd size="xs" aria-hidden>
        {controlName()} K
      </Kbd>
    </button>
  );
}

function Links() {
  const { t } = useTranslation();
  const viewer = useViewer();
  return (
    <nav aria-label={t('app.navigation')} style={{ display: 'contents' }}>
      <ul className={classes.links}>
        {navigationFor(viewer).map(({ name, to, icon: Shape }) => (
          <li key={name} className={name === 'alerts' || name === 'access' ? classes.gapBefore : undefined}>
            <Link to={to} className={classes.link} activeOptions={{ exact: to === '/', includeSearch: false }}>
              <Shape size={17} stroke={1.7} aria-hidden />
              {t(`nav.${name}`)}
            </Link>
            {name === 'devices' && <ViewLinks />}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** In place of the rail on narrow screens. */
function TopBar({ inbox }: { readonly inbox: ReactNode }) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  const openNavigation = () => {
    setWasOpened(true);
    setOpen(true);
  };
  const openKeyboard = useKeyboard();
  const address = useRouterState({ select: ({ location }) => location.href });
  useEffect(() => setOpen(false), [address]);
  // A link to the page that is shown changes no address.
  const closeAfterLink = ({ target }: MouseEvent) => {
    if (target instanceof Element && target.closest('a') !== null) setOpen(false);
  };
  return (
    <div className={classes.bar}>
      <ActionIcon aria-label={t('app.openNavigation')} onClick={openNavigation} size="lg">
        <IconMenu2 size={20} aria-hidden />
      </ActionIcon>
      <Brand />
      <ActionIcon aria-label={t('palette.act')} onClick={() => openKeyboard('palette')} size="lg" ml="auto">
        <IconSearch size={18} aria-hidden />
      </ActionIcon>
      {inbox}
      {wasOpened && (
        <Suspense>
          <NavigationDrawer isOpen={isOpen} onClose={() => setOpen(false)}>
            <div className={`${classes.rail} ${classes.drawerRail}`} onClick={closeAfterLink}>
              <Links />
              <AccountMenu />
            </div>
          </NavigationDrawer>
        </Suspense>
      )}
    </div>
  );
}
