/** The page on which a person decides whether an agent may act in their name. */
import { useEffect, useState } from 'react';
import { Loader } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { type AgentRequest, readRequest, type RequestProblem } from './agent-request';
import { ConnectForm } from './connect-form';

export function ConnectPage() {
  const { t } = useTranslation();
  const { uid } = useParams({ from: '/oauth/consent/$uid' });
  const [request, setRequest] = useState<AgentRequest | RequestProblem>();
  useEffect(() => void readRequest(uid).then(setRequest), [uid]);
  if (uid === 'failed') return <Failed />;
  if (request === undefined)
    return (
      <Page title={t('connect.title')}>
        <Loader aria-label={t('common.loading')} />
      </Page>
    );
  if (typeof request === 'string')
    return (
      <Page title={t('connect.title')}>
        <Empty icon={IconPlugConnectedX} title={t(`connect.problem.${request}`)}>
          {t(`connect.hint.${request}`)}
        </Empty>
      </Page>
    );
  return <ConnectForm uid={uid} request={request} onProblem={setRequest} />;
}

/** Shows only the code of the error, because others could write the rest. */
function Failed() {
  const { t } = useTranslation();
  const code = new URLSearchParams(location.search).get('error') ?? '';
  return (
    <Page title={t('connect.title')}>
      <Empty icon={IconPlugConnectedX} title={t('connect.failed')}>
        <p>{t('connect.failedHint')}</p>
        {/^[a-z_]{1,40}$/.test(code) && <code>{code}</code>}
      </Empty>
    </Page>
  );
}
