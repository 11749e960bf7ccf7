/** What the sessions of each device family need from the gateway. One entry per family. */
import type { DialectName, TransportKind, VisionService } from '@flotilla/mcp';
import type { Reachability } from '@flotilla/registry';
import { McpuDialect, XiaozhiDialect } from '@flotilla/session';
import type { Dialect, SessionLimits } from '@flotilla/session';

interface FamilyTraits {
  /** Returns what one session needs to read and write messages. */
  readonly openDialect: (vision: VisionService | undefined) => OpenedDialect;
  readonly limitsOver: (kind: TransportKind) => Partial<SessionLimits>;
  /** `IN_CONVERSATION` for transports over which these devices connect only to talk. */
  readonly reachabilityOver: (kind: TransportKind) => Reachability;
  /** The hub polls the devices for samples, because they never send unasked. */
  readonly hasPolledSamples: boolean;
  /** The devices initialise their outputs for each connection. */
  readonly resetsOutputs: boolean;
  /** A member `pin` is the number of a pin, which the session log does not mask. */
  readonly hasPinNumbers: boolean;
}

interface OpenedDialect {
  readonly dialect: Dialect;
  /** Sets the session id of messages. Families without conversations do not have it. */
  readonly setSessionId?: (sessionId: string) => void;
}

/** UTF-8 bytes that the firmware's MQTT client receives in one piece. [xiaozhi §9, 24] */
export const LARGE_REQUEST_BYTES = 900;

/** Microcontrollers answer at once or not at all; without a greeting they are closed after 10 s. */
const microcontrollerLimits: Partial<SessionLimits> = { greetingTimeoutMs: 3_500, listingTimeoutMs: 5_000 };

export const familyTraits: Readonly<Record<DialectName, FamilyTraits>> = {
  XIAOZHI: {
    openDialect: (vision) => {
      const dialect = new XiaozhiDialect({ vision });
      return { dialect, setSessionId: (sessionId) => dialect.setSessionId(sessionId) };
    },
    limitsOver: (kind) => (kind === 'MQTT' ? { largeRequestBytes: LARGE_REQUEST_BYTES } : {}),
    reachabilityOver: (kind) => (kind === 'WEBSOCKET' ? 'IN_CONVERSATION' : 'ALWAYS'),
    hasPolledSamples: false,
    resetsOutputs: false,
    hasPinNumbers: false,
  },
  MCPU: {
    openDialect: () => ({ dialect: new McpuDialect() }),
    limitsOver: () => microcontrollerLimits,
    reachabilityOver: () => 'ALWAYS',
    // [mcpu §2.7]
    hasPolledSamples: true,
    // [mcpu §0]
    resetsOutputs: true,
    hasPinNumbers: true,
  },
};
