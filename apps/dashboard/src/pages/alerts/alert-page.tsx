/** One alert, to which messages link. */
import { useState } from 'react';
import { useParams } from '@tanstack/react-router';
import { IconBellOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { useSummaryLanguage } from '../../parts/alert/use-summary-language';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { AcknowledgeDialog } from './acknowledge-dialog';
import { AlertCard } from './alert-card';
import { OneAlertDocument } from './generated/alerts';

/** Ms: an alert may be resolved while one looks. */
const refreshMs = 5_000;

export function AlertPage() {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<string>();
  const { id } = useParams({ from: '/alerts/$id' });
  const variables = { id, language: useSummaryLanguage() };
  const { data, error, refresh } = useHubQuery({ query: OneAlertDocument, variables, refreshMs });
  return (
    <Page title={data?.alert?.rule.name ?? t('alerts.one')}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data?.alert && <AlertCard alert={data.alert} onAcknowledge={setAsked} />}
      <AcknowledgeDialog id={asked} onClose={() => setAsked(undefined)} onDone={refresh} />
      {data?.alert === null && (
        <Empty icon={IconBellOff} title={t('alerts.unknown')}>
          {t('alerts.unknownHint')}
        </Empty>
      )}
    </Page>
  );
}
