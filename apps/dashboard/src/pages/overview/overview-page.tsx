/** The fleet at a glance. */
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { OverviewDocument } from './generated/overview';

export function OverviewPage() {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: OverviewDocument, variables: {}, refreshMs: 5_000 });
  return (
    <Page title={t('overview.title')}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <p className="figures">{`${data?.online.totalCount ?? t('common.none')} / ${data?.all.totalCount ?? t('common.none')}`}</p>
    </Page>
  );
}
