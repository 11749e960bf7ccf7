/** The sign-in page. It replaces the requested page, so that signing in leads there. */
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { Button, Loader } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSession } from '../hub/hub';
import type { SessionState } from '../hub/session';
import { type SignInMethods, signInMethods } from '../hub/sign-in-methods';
import { useVisibleInterval } from '../hub/use-visible-interval';
import classes from './entrance.module.css';
import { Mark } from './mark';

/** Its fields are not part of the first load of those who are signed in. */
const SignInForm = lazy(() => import('./sign-in-form').then((part) => ({ default: part.SignInForm })));

/** Between two attempts to reach the hub, ms. */
const openAgainMs = 3_000;

export function Entrance({ state }: { readonly state: Exclude<SessionState, { is: 'in' }> }) {
  const { t } = useTranslation();
  if (state.is === 'opening')
    return (
      <div className={classes.page}>
        <Loader aria-label={t('app.opening')} />
      </div>
    );
  if (state.is === 'unreachable') return <Unreachable />;
  return <SignIn isEnded={state.ended} />;
}

/** Screens on walls come back by themselves after a restart of the hub. */
function Unreachable() {
  const { t } = useTranslation();
  const session = useSession();
  const open = useCallback(() => void session.open(), [session]);
  useVisibleInterval(open, openAgainMs);
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <h1 className={classes.title}>{t('app.unreachable')}</h1>
        <p className="soft">{t('app.unreachableHint')}</p>
        <Button onClick={open}>{t('common.retry')}</Button>
      </div>
    </main>
  );
}

function SignIn({ isEnded }: { readonly isEnded: boolean }) {
  const { t } = useTranslation();
  const [offered, setOffered] = useState<SignInMethods>();
  useEffect(() => {
    document.title = `${t('signIn.title')} · ${t('app.name')}`;
  }, [t]);
  useEffect(() => void signInMethods().then(setOffered), []);
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <div className={classes.brand}>
          <Mark size={30} />
          <div>
            <h1 className={classes.title}>{t(isEnded ? 'signIn.endedTitle' : 'signIn.title')}</h1>
            <p className={classes.lead}>{t(isEnded ? 'signIn.ended' : 'signIn.lead')}</p>
          </div>
        </div>
        {offered && (
          <Suspense>
            <SignInForm offered={offered} />
          </Suspense>
        )}
      </div>
    </main>
  );
}
