/** The way in. It stands in place of whatever page was asked for, so that signing in leads there. */
import { type FormEvent, useEffect, useState } from 'react';
import { Button, Loader, PasswordInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSession } from '../hub/hub';
import type { SessionState, SignInFailure } from '../hub/session';
import { type WaysIn, waysIn } from '../hub/ways-in';
import classes from './entrance.module.css';
import { Mark } from './mark';

type Way = 'password' | 'key';

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

function SignIn({ isEnded }: { readonly isEnded: boolean }) {
  const { t } = useTranslation();
  const [offered, setOffered] = useState<WaysIn>();
  const [way, setWay] = useState<Way>('password');
  useEffect(() => {
    document.title = `${t('signIn.title')} · ${t('app.name')}`;
  }, [t]);
  useEffect(() => {
    void waysIn().then((found) => {
      setOffered(found);
      if (!found.password) setWay('key');
    });
  }, []);
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
          <Stack gap="md">
            {offered.password && (
              <SegmentedControl
                fullWidth
                aria-label={t('signIn.title')}
                value={way}
                onChange={(chosen) => setWay(chosen as Way)}
                data={[
                  { value: 'password', label: t('signIn.password') },
                  { value: 'key', label: t('signIn.key') },
                ]}
              />
            )}
            {way === 'key' ? <KeyForm /> : <PasswordForm />}
            {offered.openId && (
              <>
                <div className={classes.or}>{t('signIn.or')}</div>
                <Button component="a" variant="default" href={offered.openId.url(location.pathname + location.search)}>
                  {t('signIn.openId', { name: offered.openId.name })}
                </Button>
              </>
            )}
          </Stack>
        )}
      </div>
    </main>
  );
}

function KeyForm() {
  const { t } = useTranslation();
  const session = useSession();
  const [key, setKey] = useState('');
  const { submit, isBusy, failure } = useSubmit(() => session.signInByKey(key.trim()));
  const says = useFailureText('signIn.refusedKey');
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <PasswordInput
          label={t('signIn.key')}
          description={t('signIn.keyHint')}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={says(failure)}
          autoComplete="off"
          data-autofocus
          autoFocus
          required
          withAsterisk={false}
        />
        <Button type="submit" loading={isBusy}>
          {t('signIn.submit')}
        </Button>
        <p className={classes.lead}>{t('signIn.keyWhere')}</p>
      </Stack>
    </form>
  );
}

function PasswordForm() {
  const { t } = useTranslation();
  const session = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { submit, isBusy, failure } = useSubmit(() => session.signInByPassword(email.trim(), password));
  const says = useFailureText('signIn.refusedPassword');
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          type="email"
          label={t('signIn.email')}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          autoComplete="username"
          autoFocus
          required
          withAsterisk={false}
        />
        <PasswordInput
          label={t('signIn.passwordField')}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={says(failure)}
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
        <Button type="submit" loading={isBusy}>
          {t('signIn.submit')}
        </Button>
      </Stack>
    </form>
  );
}

function useSubmit(signIn: () => Promise<SignInFailure | undefined>) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<SignInFailure>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    void signIn().then((refused) => {
      setBusy(false);
      setFailure(refused);
    });
  };
  return { submit, isBusy, failure };
}

function useFailureText(refused: 'signIn.refusedKey' | 'signIn.refusedPassword') {
  const { t } = useTranslation();
  return (failure: SignInFailure | undefined): string | undefined => {
    if (!failure) return undefined;
    if (failure.is === 'slow-down') return t('signIn.slowDown', { count: failure.seconds });
    return failure.is === 'refused' ? t(refused) : t('signIn.unreachable');
  };
}
