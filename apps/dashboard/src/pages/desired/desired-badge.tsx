/** Whether a desired state applies: enabled, report only, disabled, or paused by the hub. */
import { IconEye, IconPlayerPause, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Badge, type BadgeLook } from '../../parts/badge';

const looks = {
  enforced: { token: 'running', icon: IconPlayerPlay },
  reported: { token: 'no-change', icon: IconEye },
  disabled: { token: 'muted', icon: IconPlayerStop },
  paused: { token: 'unknown', icon: IconPlayerPause },
} as const satisfies Readonly<Record<string, BadgeLook>>;

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
  return <Badge look={looks[kind]}>{t(`desired.kinds.${kind}`)}</Badge>;
}
