/** Whether a desired state applies: enabled, report only, disabled, or paused by the hub. */
import { type Icon, IconEye, IconPlayerPause, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import classes from '../../parts/badge.module.css';
import { badgeColours } from '../../parts/outcome/outcome-badge';

const looks = {
  enforced: { token: 'running', icon: IconPlayerPlay },
  reported: { token: 'no-change', icon: IconEye },
  disabled: { token: 'muted', icon: IconPlayerStop },
  paused: { token: 'unknown', icon: IconPlayerPause },
} as const satisfies Readonly<Record<string, { readonly token: string; readonly icon: Icon }>>;

interface DesiredBadgeProps {
  readonly state: {
    readonly enabled: boolean;
    readonly pausedReason: string | null;
    readonly mode: 'ENFORCE' | 'REPORT';
  };
}

export function DesiredBadge({ state: { enabled, pausedReason, mode } }: DesiredBadgeProps) {
  const { t } = useTranslation();
  const kind = enabled ? (mode === 'REPORT' ? 'reported' : 'enforced') : pausedReason === null ? 'disabled' : 'paused';
  const { token, icon: Shape } = looks[kind];
  return (
    <span className={classes.badge} style={badgeColours(token)}>
      <Shape size={13} stroke={2.2} aria-hidden />
      {t(`desired.kinds.${kind}`)}
    </span>
  );
}
