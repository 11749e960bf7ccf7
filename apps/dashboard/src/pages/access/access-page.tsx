/** Who may do what: people with their roles, programs with their keys. */
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { Agents } from './agents';
import { AccessDocument } from './generated/access';
import { Keys } from './keys';
import { People } from './people';

export function AccessPage() {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: AccessDocument, variables: {} });
  return (
    <Page title={t('access.title')} lead={t('access.lead')}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data && <People users={data.users} onChanged={refresh} />}
      {data && <Keys keys={data.apiKeys} onChanged={refresh} />}
      <Agents />
    </Page>
  );
}
