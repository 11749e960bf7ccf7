/** One form for both methods: a filled key signs in with the key. */
import { type FormEvent, useState } from 'react';
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSession } from '../hub/hub';
import type { SignInFailure } from '../hub/session';
import { rememberPage, type SignInMethods } from '../hub/sign-in-methods';
import { HubWords } from '../parts/hub-words';
import classes from './entrance.module.css';

export interface SignInFormProps {
  readonly offered: SignInMethods;
  /** Whether the page below waits for the same person. */
  readonly isCover: boolean;
}

export function SignInForm({ offered, isCover }: SignInFormProps) {
  const { t } = useTranslation();
  const session = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [key, setKey] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState(offered.failure);
  // A field that is offered later must not take the focus from the key.
  const [hadPassword] = useState(offered.password);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(
      key.trim() === ''
        ? await session.signInByPassword(email.trim(), password)
        : await session.signInByKey(key.trim()),
    );
    setBusy(false);
  };
  const isReady = key.trim() !== '' || (email.trim() !== '' && password !== '');
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        {offered.password && (
          <>
            <TextInput
              type="email"
              label={t('signIn.email')}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
              autoComplete="username"
              autoFocus={hadPassword}
            />
            <PasswordInput
              label={t('signIn.password')}
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              autoComplete="current-password"
            />
            <div className={classes.or}>{t('signIn.or')}</div>
          </>
        )}
        <PasswordInput
          label={t('signIn.key')}
          description={t('signIn.keyHint')}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          autoComplete="off"
          autoFocus={!hadPassword}
        />
        {failure && (
          <p className={classes.failure} role="alert">
            <FailureText failure={failure} />
          </p>
        )}
        <Button type="submit" loading={isBusy} disabled={!isReady}>
          {t('signIn.submit')}
        </Button>
        {offered.oidc && <ProviderLink provider={offered.oidc} isCover={isCover} />}
        <p className={classes.lead}>{t('signIn.keyWhere')}</p>
      </Stack>
    </form>
  );
}

interface ProviderLinkProps extends Pick<SignInFormProps, 'isCover'> {
  readonly provider: NonNullable<SignInMethods['oidc']>;
}

/** On a cover it opens another tab: the page below keeps its input, and resumes. */
function ProviderLink({ provider: { label, url }, isCover }: ProviderLinkProps) {
  const { t } = useTranslation();
  return (
    <Button
      component="a"
      variant="default"
      href={url}
      {...(isCover ? { target: '_blank' } : { onClick: rememberPage })}
    >
      {t('signIn.oidc', { name: label })}
    </Button>
  );
}

function FailureText({ failure }: { readonly failure: SignInFailure }) {
  const { t } = useTranslation();
  switch (failure.is) {
    case 'refused':
      return t(failure.by === 'key' ? 'signIn.refusedKey' : 'signIn.refusedPassword');
    case 'provider-refused':
      return t('signIn.providerRefused');
    case 'rejected':
      return <HubWords code={undefined} message={failure.message} />;
    case 'not-kept':
      return t('signIn.notKept');
    case 'unreachable':
      return t('signIn.unreachable');
    case 'slow-down':
      return t('signIn.slowDown', { count: failure.seconds });
  }
}
