/** Where a job stands, and how it ended. */
import {
  IconAlertTriangle,
  IconCalendar,
  IconCheck,
  IconHandStop,
  IconLoader,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconUserQuestion,
  IconX,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Badge, type BadgeLook } from '../badge';

const looks = {
  AWAITING_APPROVAL: { token: 'unknown', icon: IconUserQuestion },
  SCHEDULED: { token: 'muted', icon: IconCalendar },
  PREPARING: { token: 'running', icon: IconLoader },
  RUNNING: { token: 'running', icon: IconPlayerPlay },
  PAUSED: { token: 'unknown', icon: IconPlayerPause },
  CANCELLING: { token: 'muted', icon: IconPlayerStop },
  SUCCEEDED: { token: 'succeeded', icon: IconCheck },
  PARTIAL: { token: 'verify-failed', icon: IconAlertTriangle },
  FAILED: { token: 'failed', icon: IconX },
  ABORTED: { token: 'failed', icon: IconHandStop },
  CANCELLED: { token: 'muted', icon: IconPlayerStop },
  EXPIRED: { token: 'muted', icon: IconCalendar },
  DENIED: { token: 'rejected', icon: IconHandStop },
} as const satisfies Readonly<Record<string, BadgeLook>>;

type Look = keyof typeof looks;

interface JobBadgeProps {
  readonly state: Look | 'FINISHED';
  readonly conclusion: Look | null;
}

export function JobBadge({ state, conclusion }: JobBadgeProps) {
  const { t } = useTranslation();
  const shown = state === 'FINISHED' ? (conclusion ?? 'SUCCEEDED') : state;
  return <Badge look={looks[shown]}>{t(`jobState.${shown}`)}</Badge>;
}
