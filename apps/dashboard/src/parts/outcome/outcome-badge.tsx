/**
 * One colour, icon and word per outcome, the same on every page. Icons differ in shape, so colour
 * is never alone.
 */
import {
  IconArrowForwardUp,
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconClockX,
  IconEqual,
  IconEyeX,
  IconHourglass,
  IconPlayerStop,
  IconQuestionMark,
  IconSend,
  IconSendOff,
  IconX,
  IconZoomQuestion,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Badge, type BadgeLook } from '../badge';

export const outcomeLooks = {
  SUCCEEDED: { token: 'succeeded', icon: IconCheck },
  NO_CHANGE: { token: 'no-change', icon: IconEqual },
  FAILED: { token: 'failed', icon: IconX },
  REJECTED: { token: 'rejected', icon: IconBan },
  VERIFY_FAILED: { token: 'verify-failed', icon: IconEyeX },
  UNKNOWN: { token: 'unknown', icon: IconQuestionMark },
  NOT_SENT: { token: 'muted', icon: IconSendOff },
  EXPIRED: { token: 'muted', icon: IconClockX },
  CANCELLED: { token: 'muted', icon: IconPlayerStop },
  SKIPPED: { token: 'muted', icon: IconArrowForwardUp },
  PENDING: { token: 'muted', icon: IconCircleDashed },
  WAITING_DEVICE: { token: 'muted', icon: IconHourglass },
  IN_FLIGHT: { token: 'running', icon: IconSend },
  VERIFYING: { token: 'running', icon: IconZoomQuestion },
} as const satisfies Readonly<Record<string, BadgeLook>>;

/** Outcomes, and where a target is that has none yet. */
export type OutcomeOrStage = keyof typeof outcomeLooks;

export function OutcomeBadge({ outcome }: { readonly outcome: OutcomeOrStage }) {
  const { t } = useTranslation();
  return <Badge look={outcomeLooks[outcome]}>{t(`outcome.${outcome}`)}</Badge>;
}
