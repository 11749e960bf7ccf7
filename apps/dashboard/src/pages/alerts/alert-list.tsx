/** Alerts of one view, newest first. Changes are shown as they happen. */
import { useCallback, useEffect, useState } from 'react';
import { Button } from '@mantine/core';
import { IconBellCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useClient } from 'urql';
import { usePages } from '../../hub/lists/use-pages';
import { useSummaryLanguage } from '../../parts/alert/use-summary-language';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { AcknowledgeDialog } from './acknowledge-dialog';
import { AlertCard } from './alert-card';
import { type AlertFilter, AlertsAsTheyChangeDocument, AlertsDocument, type AlertsQuery } from './generated/alerts';

const filters = {
  firing: { state: 'FIRING', acknowledged: false },
  acknowledged: { state: 'FIRING', acknowledged: true },
  history: { state: 'RESOLVED' },
} as const satisfies Readonly<Record<string, AlertFilter>>;

export function AlertList({ view }: { readonly view: keyof typeof filters }) {
  const { t } = useTranslation();
  const language = useSummaryLanguage();
  const client = useClient();
  const [asked, setAsked] = useState<string>();
  const variables = useCallback(
    (after: string | null) => ({ filter: filters[view], after, language }),
    [view, language],
  );
  const { rows, error, hasMore, isLoading, loadMore, refresh } = usePages({ query: AlertsDocument, variables, listOf });
  useEffect(() => {
    const { unsubscribe } = client.subscription(AlertsAsTheyChangeDocument, {}).subscribe(({ data }) => {
      if (data) refresh();
    });
    return unsubscribe;
  }, [client, refresh]);
  return (
    <>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {rows.length === 0 && !isLoading && !error && (
        <Empty icon={IconBellCheck} title={t(`alerts.empty.${view}`)}>
          {t('alerts.emptyHint')}
        </Empty>
      )}
      {rows.map((alert) => (
        <AlertCard key={alert.id} alert={alert} onAcknowledge={setAsked} />
      ))}
      <AcknowledgeDialog id={asked} onClose={() => setAsked(undefined)} onDone={refresh} />
      {hasMore && (
        <Button variant="default" loading={isLoading} onClick={loadMore}>
          {t('alerts.more')}
        </Button>
      )}
    </>
  );
}

const listOf = ({ alerts }: AlertsQuery) => alerts;
