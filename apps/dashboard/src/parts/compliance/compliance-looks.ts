/** One colour, icon and word per compliance state, the same on every page. */
import {
  type Icon,
  IconArrowsDiff,
  IconBan,
  IconCheck,
  IconClockOff,
  IconHandStop,
  IconHourglass,
  IconRefresh,
  IconSend,
  IconStackPush,
  IconSwords,
  IconX,
} from '@tabler/icons-react';

interface ComplianceLook {
  readonly token: string;
  /** Of the bar; states without a problem have weaker fills. */
  readonly fill: string;
  readonly icon: Icon;
  /** Whether the device is out of sync with a desired state that applies to it. */
  readonly isOut: boolean;
}

/** In the order of the bar. */
export const complianceLooks = {
  IN_SYNC: { token: 'succeeded', fill: 'succeeded-fill', icon: IconCheck, isOut: false },
  APPLYING: { token: 'running', fill: 'running-fill', icon: IconSend, isOut: true },
  RETRYING: { token: 'verify-failed', fill: 'verify-failed-fill', icon: IconRefresh, isOut: true },
  WAITING_DEVICE: { token: 'muted', fill: 'waiting-fill', icon: IconHourglass, isOut: true },
  DRIFTED: { token: 'unknown', fill: 'unknown-fill', icon: IconArrowsDiff, isOut: true },
  HELD: { token: 'no-change', fill: 'no-change-fill', icon: IconHandStop, isOut: true },
  CONFLICT: { token: 'rejected', fill: 'rejected-fill', icon: IconSwords, isOut: true },
  FAILED: { token: 'failed', fill: 'failed-fill', icon: IconX, isOut: true },
  UNSUPPORTED: { token: 'muted', fill: 'muted-fill', icon: IconBan, isOut: false },
  OVERRIDDEN: { token: 'muted', fill: 'muted-fill', icon: IconStackPush, isOut: false },
  OUT_OF_WINDOW: { token: 'muted', fill: 'waiting-fill', icon: IconClockOff, isOut: false },
} as const satisfies Readonly<Record<string, ComplianceLook>>;

export type ComplianceState = keyof typeof complianceLooks;

export const complianceStates = Object.keys(complianceLooks) as readonly ComplianceState[];

export const outOfSyncStates = complianceStates.filter((state) => complianceLooks[state].isOut);
