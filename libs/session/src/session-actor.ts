/** One live session. Unfinished: the signatures are final, the behaviour follows. */
import type { CloseReason, Transport } from '@flotilla/mcp';
import type { Clock } from './clock.js';
import type { Dialect } from './dialect.js';
import type { Session, SessionCall, SessionLimits, SessionObserver, SessionState, SettledCall, ToolPageCache } from './session-contract.js';

export interface SessionOptions {
  readonly dialect: Dialect;
  /** Not started yet; the session sets its callbacks, starts it and closes it. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly observer: SessionObserver;
  /** From 1 to the dialect's largest id; a random one keeps answers from before a reconnect from matching. */
  readonly firstRequestId: number;
  readonly limits?: Partial<SessionLimits>;
  readonly pageCache?: ToolPageCache;
}

/** Order of use: construct, then `start()` once, which starts the transport and greets the device; calls made before `ready` wait. */
export class SessionActor implements Session {
  readonly state: SessionState = 'connecting';
  readonly pendingCalls: number = 0;

  constructor(options: SessionOptions) {
    void options;
  }

  start(): void {}
  call(call: SessionCall, settle: (settled: SettledCall) => void): void {
    void [call, settle];
  }
  refreshTools(): void {}
  sendMessage(message: Readonly<Record<string, unknown>>): boolean {
    void message;
    return false;
  }
  close(reason: CloseReason): void {
    void reason;
  }
}
