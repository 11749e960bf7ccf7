/** The bell beside the name: how many alerts fire, and the newest of them. */
import { useEffect, useState } from 'react';
import { ActionIcon, Indicator, Popover, Stack } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useClient } from 'urql';
import { useScope } from '../hub/hub';
import { useHubQuery } from '../hub/use-hub-query';
import { AlertBadge } from '../parts/alert/alert-badge';
import { firingCount } from '../parts/alert/firing-count';
import { useSummaryLanguage } from '../parts/alert/use-summary-language';
import { ReadFailure } from '../parts/failure';
import { Time } from '../parts/time/time';
import { AlertInboxChangesDocument, AlertInboxDocument } from './generated/alert-inbox';

/** Ms: the subscription may lose a change. */
const refreshMs = 60_000;

export function AlertInbox() {
  return useScope('EVENTS_READ') ? <Bell /> : null;
}

function Bell() {
  const { t } = useTranslation();
  const client = useClient();
  const [isOpen, setOpen] = useState(false);
  const read = useHubQuery({ query: AlertInboxDocument, variables: { language: useSummaryLanguage() }, refreshMs });
  const { data, refresh } = read;
  const count = data?.alerts.totalCount ?? 0;
  useEffect(() => {
    const { unsubscribe } = client.subscription(AlertInboxChangesDocument, {}).subscribe((change) => {
      if (change.data) refresh();
    });
    return unsubscribe;
  }, [client, refresh]);
  useEffect(() => {
    firingCount.set(count);
    return () => firingCount.set(0);
  }, [count]);
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      width="min(340px, calc(100vw - 24px))"
      position="bottom-start"
      withinPortal
      trapFocus
      returnFocus
    >
      <Indicator label={count > 99 ? '99+' : count} size={16} offset={8} disabled={count === 0} color="red">
        <Popover.Target>
          <ActionIcon
            variant="subtle"
            size="lg"
            aria-label={data ? t('alerts.inbox', { count }) : t('alerts.title')}
            onClick={() => setOpen(!isOpen)}
          >
            <IconBell size={18} aria-hidden />
          </ActionIcon>
        </Popover.Target>
      </Indicator>
      <Popover.Dropdown>
        <Stack gap="xs">
          <ReadFailure read={read} />
          {data && count === 0 && <span className="soft">{t('alerts.empty.firing')}</span>}
          {data?.alerts.nodes.map(({ firedAt, id, severity, summary }) => (
            <div key={id}>
              <AlertBadge severity={severity} isResolved={false} /> <Time at={firedAt} />
              <br />
              <Link to="/alerts/$id" params={{ id }} onClick={() => setOpen(false)}>
                {summary}
              </Link>
            </div>
          ))}
          <Link to="/alerts" onClick={() => setOpen(false)}>
            {t('alerts.all')}
          </Link>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
