/** How serious an alert is, or that it is over. */
import { IconAlertOctagon, IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Badge, type BadgeLook } from '../badge';

const looks = {
  INFO: { token: 'muted', icon: IconInfoCircle },
  WARNING: { token: 'verify-failed', icon: IconAlertTriangle },
  CRITICAL: { token: 'failed', icon: IconAlertOctagon },
  RESOLVED: { token: 'succeeded', icon: IconCheck },
} as const satisfies Readonly<Record<string, BadgeLook>>;

interface AlertBadgeProps {
  readonly severity: 'INFO' | 'WARNING' | 'CRITICAL';
  readonly isResolved: boolean;
}

export function AlertBadge({ severity, isResolved }: AlertBadgeProps) {
  const { t } = useTranslation();
  const shown = isResolved ? 'RESOLVED' : severity;
  return <Badge look={looks[shown]}>{t(`alerts.badge.${shown}`)}</Badge>;
}
