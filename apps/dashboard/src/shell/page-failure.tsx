/** Shown when a page fails or does not exist. */
import { useState } from 'react';
import { Button } from '@mantine/core';
import { IconCompassOff, IconLock, IconMoodConfuzed, IconRefresh } from '@tabler/icons-react';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { reloadConsole } from '../hub/reload-console';
import type { Scope } from '../hub/session';
import { Empty } from '../parts/empty';
import { Page } from '../parts/page';

/** The script of a page did not load: the hub cannot be reached, or an update removed the file. */
export class PageLost extends Error {
  constructor(cause: unknown) {
    super('The script of the page did not come.', { cause });
    this.name = 'PageLost';
  }
}

export function PageFailure({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  if (error instanceof PageLost) return <PageMissing />;
  return (
    <Page title={t('failure.pageTitle')}>
      <Empty
        icon={IconMoodConfuzed}
        title={t('failure.pageHint')}
        action={
          <>
            <Button variant="default" onClick={reset}>
              {t('common.retry')}
            </Button>
            <Link to="/">{t('common.backToOverview')}</Link>
          </>
        }
      >
        <code>{error instanceof Error ? error.message : String(error)}</code>
      </Empty>
    </Page>
  );
}

/** Only a fresh page has the current file names, and only if the hub answers. */
function PageMissing() {
  const { t } = useTranslation();
  const [isAway, setAway] = useState(false);
  const reload = async () => setAway(!(await reloadConsole()));
  return (
    <Page title={t('failure.pageLostTitle')}>
      <Empty
        icon={IconRefresh}
        title={t('failure.pageLost')}
        action={<Button onClick={() => void reload()}>{t('app.reload')}</Button>}
      >
        {isAway && <span role="alert">{t('failure.unreachable')}</span>}
      </Empty>
    </Page>
  );
}

export function PageNotFound() {
  const { t } = useTranslation();
  return (
    <Page title={t('notFound.title')}>
      <Empty
        icon={IconCompassOff}
        title={t('notFound.hint')}
        action={<Link to="/">{t('common.backToOverview')}</Link>}
      />
    </Page>
  );
}

export function PageForbidden({ scope }: { readonly scope: Scope }) {
  const { t } = useTranslation();
  return (
    <Page title={t('forbiddenPage.title')}>
      <Empty icon={IconLock} title={t('forbiddenPage.hint', { scope })} />
    </Page>
  );
}
