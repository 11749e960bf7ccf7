/**
 * The sign-in page. It replaces the requested page, so that signing in leads there. After the
 * session of a person has ended it covers the page, which keeps its input.
 */
import {
  type KeyboardEvent,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Button, Group, Loader, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSession } from '../hub/hub';
import { type SessionState, shownViewer } from '../hub/session';
import { type SignInMethods, signInMethods } from '../hub/sign-in-methods';
import { reloadConsole } from '../hub/reload-console';
import { useVisibleInterval } from '../hub/use-visible-interval';
import { lazyPart } from '../parts/lazy-part';
import classes from './entrance.module.css';
import { Mark } from './mark';

/** Its fields are not part of the first load of those who are signed in. */
const SignInForm = lazyPart(() => import('./sign-in-form').then((part) => part.SignInForm), FormLost);

/** Between two attempts to reach the hub, ms. */
const openAgainMs = 3_000;
const titleId = 'sign-in-title';

export function Entrance({ state }: { readonly state: Exclude<SessionState, { is: 'in' }> }) {
  const { t } = useTranslation();
  if (state.is === 'opening')
    return (
      <div className={classes.page}>
        <Loader aria-label={t('app.opening')} />
      </div>
    );
  if (state.is === 'unreachable') return <Unreachable />;
  const isEnded = state.ended !== undefined;
  const isUnconfirmed = state.isUnconfirmed === true;
  if (!shownViewer(state)) return <SignIn {...{ isEnded, isUnconfirmed }} isCover={false} />;
  return (
    <Cover>
      <SignIn {...{ isEnded, isUnconfirmed }} isCover />
    </Cover>
  );
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

/** A dialog of the browser: the page below, with its own dialogs, takes no input. */
function Cover({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const cover = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = cover.current;
    dialog?.showModal();
    // The browser then puts the focus back where it was on the page.
    return () => dialog?.close();
  }, []);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') void session.resume();
    };
    document.addEventListener('visibilitychange', look);
    window.addEventListener('focus', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('focus', look);
    };
  }, [session]);
  const stay = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === 'Escape') event.preventDefault();
  };
  // Browsers close it at the second Escape or on the way back of a phone, even if cancelled.
  return (
    <dialog
      ref={cover}
      className={classes.cover}
      aria-labelledby={titleId}
      onKeyDown={stay}
      onCancel={(event) => event.preventDefault()}
      onClose={() => cover.current?.showModal()}
    >
      {children}
    </dialog>
  );
}

interface SignInProps {
  readonly isEnded: boolean;
  /** Whether the hub did not confirm a sign-out. */
  readonly isUnconfirmed: boolean;
  readonly isCover: boolean;
}

function SignIn({ isEnded, isUnconfirmed, isCover }: SignInProps) {
  const { t } = useTranslation();
  const [offered, setOffered] = useState<SignInMethods>();
  useEffect(() => {
    const former = document.title;
    document.title = `${t('signIn.title')} · ${t('app.name')}`;
    return () => void (document.title = former);
  }, [t]);
  const isReading = useRef(false);
  const read = useCallback(() => {
    if (isReading.current) return;
    isReading.current = true;
    void signInMethods().then((answer) => {
      isReading.current = false;
      // Only the first look has the failure at the provider.
      setOffered((known) =>
        known && !known.isUnread ? known : { ...answer, failure: answer.failure ?? known?.failure },
      );
    });
  }, []);
  useEffect(read, [read]);
  useVisibleInterval(read, offered?.isUnread ? openAgainMs : undefined);
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <div className={classes.brand}>
          <Mark size={30} />
          <div>
            <h1 className={classes.title} id={titleId}>
              {t(isEnded ? 'signIn.endedTitle' : 'signIn.title')}
            </h1>
            <p className={classes.lead}>{t(isEnded ? 'signIn.ended' : 'signIn.lead')}</p>
          </div>
        </div>
        {isUnconfirmed && <SignOutAgain />}
        {offered && (
          <Suspense>
            <SignInForm offered={offered} isCover={isCover} />
          </Suspense>
        )}
      </div>
    </main>
  );
}

function SignOutAgain() {
  const { t } = useTranslation();
  const session = useSession();
  return (
    <Stack gap="xs" mb="md">
      <p className={classes.failure} role="alert">
        {t('signIn.unconfirmed')}
      </p>
      <Button variant="default" onClick={() => void session.signOut()}>
        {t('signIn.signOutAgain')}
      </Button>
    </Stack>
  );
}

/** No banner is above this page. What was typed below it is lost only if the person reloads. */
function FormLost({ isCover }: Pick<SignInProps, 'isCover'>) {
  const { t } = useTranslation();
  const [isAway, setAway] = useState(false);
  const reload = async () => setAway(!(await reloadConsole()));
  return (
    <>
      <p role="alert">{t(isAway ? 'failure.unreachable' : isCover ? 'signIn.formLost' : 'failure.pageLost')}</p>
      {isCover && <p>{t('signIn.keepTyped')}</p>}
      <Group gap="xs">
        {isCover && (
          <Button component="a" href="/" target="_blank">
            {t('signIn.otherTab')}
          </Button>
        )}
        <Button variant={isCover ? 'default' : 'filled'} onClick={() => void reload()}>
          {t('app.reload')}
        </Button>
      </Group>
    </>
  );
}
