/** One address with its latest deliveries. */
import { useState } from 'react';
import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { type Column, DataTable } from '../../parts/table/data-table';
import { MutationFailureNotice } from '../../parts/failure';
import { OutcomeBadge } from '../../parts/outcome/outcome-badge';
import { Section } from '../../parts/page';
import { exactTimeWidth, Time } from '../../parts/time/time';
import { useNotify } from '../../parts/use-notify';
import {
  DeleteWebhookDocument,
  RedeliverWebhookDocument,
  TestWebhookDocument,
  type TestWebhookMutation,
  type WebhooksQuery,
} from './generated/webhooks';

type Webhook = WebhooksQuery['webhooks'][number];
type Delivery = Webhook['deliveries'][number];

/** The hub counts no further. */
const pendingCountedMax = 100_000;

/** What a test found counts until the webhook is changed. */
interface LastTest {
  readonly revision: string;
  readonly result: TestWebhookMutation['testWebhook'] | undefined;
}

interface WebhookCardProps {
  readonly webhook: Webhook;
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}

export function WebhookCard({ webhook, onEdit, onChanged }: WebhookCardProps) {
  const { t } = useTranslation();
  const [isLeaving, setLeaving] = useState(false);
  const notify = useNotify();
  const redeliver = useHubMutation(RedeliverWebhookDocument, (data) => data.redeliverWebhook.userErrors);
  const again = async (delivery: Delivery) => {
    if (!(await redeliver.run({ deliveryId: delivery.id }))) return;
    notify(t('webhooks.redelivered'));
    onChanged();
  };
  const [lastTest, setLastTest] = useState<LastTest>();
  const tested = lastTest?.revision === webhook.revision ? lastTest.result : undefined;
  const test = useHubMutation(TestWebhookDocument, (data) => data.testWebhook.userErrors);
  const remove = useHubMutation(DeleteWebhookDocument, (data) => data.deleteWebhook.userErrors);
  const send = async () => {
    setLastTest(undefined);
    setLastTest({ revision: webhook.revision, result: (await test.run({ id: webhook.id }))?.testWebhook });
  };
  const columns = useDeliveryColumns(again, redeliver.isBusy);
  const waiting = webhook.pendingEvents < pendingCountedMax ? 'webhooks.pending' : 'webhooks.pendingMost';
  return (
    <Section
      title={webhook.url}
      actions={
        <Group gap="xs">
          <Button size="xs" variant="default" loading={test.isBusy} onClick={() => void send()}>
            {t('webhooks.test')}
          </Button>
          <Button size="xs" variant="default" onClick={onEdit}>
            {t('webhooks.edit')}
          </Button>
          <Button size="xs" variant="default" onClick={() => setLeaving(true)}>
            {t('webhooks.delete')}
          </Button>
        </Group>
      }
    >
      <p className="soft">
        <code>{webhook.types.join(' ')}</code> · <StateOf webhook={webhook} />
        {webhook.pendingEvents > 0 && ` · ${t(waiting, { count: webhook.pendingEvents })}`}
      </p>
      <MutationFailureNotice failure={redeliver.failure} />
      <MutationFailureNotice failure={test.failure} />
      <p role="status">{tested && t(`webhooks.tested.${tested.delivered ? 'yes' : 'no'}`, { ...tested })}</p>
      {webhook.deliveries.length === 0 ? (
        <p className="soft">{t('webhooks.noDeliveries')}</p>
      ) : (
        <DataTable
          label={t('webhooks.deliveriesOf', { url: webhook.url })}
          columns={columns}
          rows={webhook.deliveries}
          rowKey={({ id }) => id}
          maxHeight="300px"
        />
      )}
      <ConfirmMutation
        mutation={remove}
        variables={isLeaving ? { id: webhook.id } : undefined}
        title={t('webhooks.deleteTitle')}
        text={t('webhooks.deleteText', { url: webhook.url })}
        act={t('webhooks.delete')}
        keep={t('keep.webhook')}
        onClose={() => setLeaving(false)}
        onDone={onChanged}
      />
    </Section>
  );
}

function StateOf({ webhook: { enabled, failingSince, pausedAt } }: Pick<WebhookCardProps, 'webhook'>) {
  const { t } = useTranslation();
  if (pausedAt !== null)
    return (
      <>
        {t('webhooks.pausedSince')} <Time at={pausedAt} />
      </>
    );
  if (failingSince !== null)
    return (
      <>
        {t('webhooks.failingSince')} <Time at={failingSince} />
      </>
    );
  return t(enabled ? 'webhooks.enabled' : 'webhooks.disabled');
}

function useDeliveryColumns(
  onAgain: (delivery: Delivery) => Promise<void>,
  isBusy: boolean,
): readonly Column<Delivery>[] {
  const { t } = useTranslation();
  return [
    {
      id: 'at',
      header: t('webhooks.at'),
      width: exactTimeWidth,
      grow: 0,
      cell: ({ at }) => <Time at={at} form="exact" />,
    },
    {
      id: 'outcome',
      header: t('webhooks.outcome'),
      width: 110,
      grow: 0,
      cell: ({ delivered }) => <OutcomeBadge outcome={delivered ? 'SUCCEEDED' : 'FAILED'} />,
    },
    {
      id: 'status',
      header: t('webhooks.status'),
      width: 64,
      grow: 0,
      cell: ({ status }) => status ?? t('common.none'),
    },
    {
      id: 'attempt',
      header: t('webhooks.attempt'),
      width: 64,
      grow: 0,
      isNumeric: true,
      cell: ({ attempt }) => attempt,
    },
    {
      id: 'event',
      header: t('webhooks.event'),
      width: 160,
      cell: ({ eventId, eventType }) => <code title={eventId}>{eventType ?? eventId}</code>,
    },
    { id: 'error', header: t('webhooks.error'), width: 120, grow: 2, cell: ({ error }) => error ?? '' },
    {
      id: 'again',
      header: '',
      width: 96,
      grow: 0,
      isStuck: true,
      cell: (delivery) => (
        <Button size="compact-xs" variant="default" disabled={isBusy} onClick={() => void onAgain(delivery)}>
          {t('webhooks.again')}
        </Button>
      ),
    },
  ];
}
