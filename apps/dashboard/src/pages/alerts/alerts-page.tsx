/** Alerts: what fires, what was acknowledged, and the history; their rules; and their channels. */
import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { AlertList } from './alert-list';
import { alertViews, type AlertView } from './alert-search';
import { Channels } from './channels';
import { AlertSettingsDocument } from './generated/alerts';
import { Rules } from './rules';

/** Ms: alerts fire, snoozes end, and channels fail while the page is open. */
const refreshMs = 15_000;

export function AlertsPage() {
  const { t } = useTranslation();
  const { view = 'firing' } = useSearch({ from: '/alerts' });
  const navigate = useNavigate();
  return (
    <Page title={t('alerts.title')} lead={t('alerts.lead')}>
      <SegmentedControl
        aria-label={t('alerts.view')}
        value={view}
        onChange={(next) => void navigate({ to: '/alerts', search: { view: next as AlertView } })}
        data={alertViews.map((value) => ({ value, label: t(`alerts.views.${value}`) }))}
      />
      {view === 'rules' || view === 'channels' ? <Settings view={view} /> : <AlertList view={view} />}
    </Page>
  );
}

function Settings({ view }: { readonly view: 'rules' | 'channels' }) {
  const { data, error, refresh } = useHubQuery({ query: AlertSettingsDocument, variables: {}, refreshMs });
  return (
    <>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data && view === 'rules' && (
        <Rules rules={data.alertRules} channels={data.notificationChannels} onChanged={refresh} />
      )}
      {data && view === 'channels' && (
        <Channels channels={data.notificationChannels} rules={data.alertRules} onChanged={refresh} />
      )}
    </>
  );
}
