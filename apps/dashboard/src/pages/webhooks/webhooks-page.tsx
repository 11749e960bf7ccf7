/** Addresses that receive events, and the result of each delivery. */
import { useState } from 'react';
import { Button } from '@mantine/core';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { WebhooksDocument, type WebhooksQuery } from './generated/webhooks';
import { WebhookCard } from './webhook-card';
import { WebhookDialog } from './webhook-dialog';

/** Ms: deliveries come and go while one looks. */
const refreshMs = 5_000;

export function WebhooksPage() {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: WebhooksDocument, variables: {}, refreshMs });
  const [edited, setEdited] = useState<WebhooksQuery['webhooks'][number] | 'new'>();
  return (
    <Page
      title={t('webhooks.title')}
      lead={t('webhooks.lead')}
      actions={
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
          {t('webhooks.add')}
        </Button>
      }
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data?.webhooks.length === 0 && (
        <Empty icon={IconWebhook} title={t('webhooks.empty')}>
          {t('webhooks.emptyHint')}
        </Empty>
      )}
      {data?.webhooks.map((webhook) => (
        <WebhookCard key={webhook.id} webhook={webhook} onEdit={() => setEdited(webhook)} onChanged={refresh} />
      ))}
      {edited && (
        <WebhookDialog
          webhook={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={refresh}
        />
      )}
    </Page>
  );
}
