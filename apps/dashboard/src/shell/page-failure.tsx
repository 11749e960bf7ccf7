/** What is shown where a page broke, or where there is none. */
import { Button } from '@mantine/core';
import { IconCompassOff, IconLock, IconMoodConfuzed } from '@tabler/icons-react';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Scope } from '../hub/session';
import { Empty } from '../parts/empty';
import { Page } from '../parts/page';

export function PageFailure({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  return (
    <Page title={t('failure.pageTitle')}>
      <Empty
        icon={IconMoodConfuzed}
        title={error instanceof Error ? error.message : String(error)}
        action={
          <Button variant="default" onClick={reset}>
            {t('common.retry')}
          </Button>
        }
      >
        {t('failure.pageHint')}
      </Empty>
    </Page>
  );
}

export function PageNotFound() {
  const { t } = useTranslation();
  return (
    <Page title={t('notFound.title')}>
      <Empty icon={IconCompassOff} title={t('notFound.hint')} action={<Link to="/">{t('common.backToOverview')}</Link>} />
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
