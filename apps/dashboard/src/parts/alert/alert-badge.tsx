/** How serious an alert is, or that it is over. */
import { type Icon, IconAlertOctagon, IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import classes from '../badge.module.css';
import { badgeColours } from '../outcome/outcome-badge';

const looks = {
  INFO: { token: 'muted', icon: IconInfoCircle },
  WARNING: { token: 'verify-failed', icon: IconAlertTriangle },
  CRITICAL: { token: 'failed', icon: IconAlertOctagon },
  RESOLVED: { token: 'succeeded', icon: IconCheck },
} as const satisfies Readonly<Record<string, { readonly token: string; readonly icon: Icon }>>;

interface AlertBadgeProps {
  readonly severity: 'INFO' | 'WARNING' | 'CRITICAL';
  readonly isResolved: boolean;
}

export function AlertBadge({ severity, isResolved }: AlertBadgeProps) {
  const { t } = useTranslation();
  const shown = isResolved ? 'RESOLVED' : severity;
  const { token, icon: Shape } = looks[shown];
  return (
    <span className={classes.badge} style={badgeColours(token)}>
      <Shape size={13} stroke={2.2} aria-hidden />
      {t(`alerts.badge.${shown}`)}
    </span>
  );
}
