/** The sign-in page. It replaces the requested page, so that signing in leads there. */
import { lazy, Suspense } from 'react';
import { Button, Loader } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSession } from '../hub/hub';
import type { SessionState } from '../hub/session';
import classes from './entrance.module.css';

const SignIn = lazy(() => import('./sign-in'));

export function Entrance({ state }: { readonly state: Exclude<SessionState, { is: 'in' }> }) {
  if (state.is === 'opening') return <Opening />;
  if (state.is === 'unreachable') return <Unreachable />;
  return (
    <Suspense fallback={<Opening />}>
      <SignIn isEnded={state.ended} />
    </Suspense>
  );
}

function Opening() {
  const { t } = useTranslation();
  return (
    <div className={classes.page}>
      <Loader aria-label={t('app.opening')} />
    </div>
  );
}

function Unreachable() {
  const { t } = useTranslation();
  const session = useSession();
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <h1 className={classes.title}>{t('app.unreachable')}</h1>
        <p className="soft">{t('app.unreachableHint')}</p>
        <Button onClick={() => void session.open()}>{t('common.retry')}</Button>
      </div>
    </main>
  );
}
