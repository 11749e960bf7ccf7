/** One alert: what happened, where, since when, and who takes care of it. */
import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { AlertBadge } from '../../parts/alert/alert-badge';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import type { AlertCardFragment } from './generated/alerts';

interface AlertCardProps {
  readonly alert: AlertCardFragment;
  readonly onAcknowledge: (id: string) => void;
}

export function AlertCard({ alert, onAcknowledge }: AlertCardProps) {
  const { t } = useTranslation();
  const mayAcknowledge = useScope('DEVICES_WRITE');
  const { acknowledgedAt, acknowledgedBy, deviceCount, devices, firedAt, note, resolvedAt, rule, severity } = alert;
  const others = deviceCount - devices.length;
  return (
    <Section
      title={rule.name}
      actions={
        mayAcknowledge &&
        acknowledgedAt === null &&
        resolvedAt === null && (
          <Button size="xs" variant="default" onClick={() => onAcknowledge(alert.id)}>
            {t('alerts.acknowledge')}
          </Button>
        )
      }
    >
      <Group gap="xs">
        <AlertBadge severity={severity} isResolved={resolvedAt !== null} />
        <Link to="/alerts/$id" params={{ id: alert.id }}>
          {alert.summary}
        </Link>
      </Group>
      <p className="soft">
        {t('alerts.fired')} <Time at={firedAt} />
        {resolvedAt !== null && (
          <>
            {' · '}
            {t('alerts.resolved')} <Time at={resolvedAt} />
          </>
        )}
        {acknowledgedAt !== null && (
          <>
            {' · '}
            {t('alerts.acknowledgedBy', { name: acknowledgedBy ?? '' })} <Time at={acknowledgedAt} />
            {note !== null && t('mark.colon') + note}
          </>
        )}
      </p>
      {devices.length > 0 && (
        <Group gap="xs">
          {devices.map(({ id, name }) => (
            <Link key={id} to="/devices/$id" params={{ id }} style={{ minWidth: 0 }}>
              {name ?? id}
            </Link>
          ))}
          {others > 0 && <span className="soft">{t('alerts.others', { count: others })}</span>}
        </Group>
      )}
    </Section>
  );
}
