/**
 * One colour, icon and word per outcome, the same on every page. Icons differ in shape, so colour
 * is never alone.
 */
import type { CSSProperties } from 'react';
import {
  type Icon,
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
import classes from '../badge.module.css';

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
} as const satisfies Readonly<Record<string, { readonly token: string; readonly icon: Icon }>>;

/** Outcomes, and where a target is that has none yet. */
export type OutcomeOrStage = keyof typeof outcomeLooks;

export function OutcomeBadge({ outcome }: { readonly outcome: OutcomeOrStage }) {
  const { t } = useTranslation();
  const { token, icon: Shape } = outcomeLooks[outcome];
  return (
    <span className={classes.badge} style={badgeColours(token)}>
      <Shape size={13} stroke={2.2} aria-hidden />
      {t(`outcome.${outcome}`)}
    </span>
  );
}

/** The token's text colour on its wash. */
export function badgeColours(token: string): CSSProperties {
  return { color: `var(--${token})`, background: `var(--${token}-wash)` };
}
