/** Fixtures for specs of ingresses: a host that admits every connection, real time, low limits. */
import type { DeviceId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { vi } from 'vitest';
import { OpenAuth } from './auth/device-auth.js';
import { GatewayCounters } from './gateway-counters.js';
import { defaultGatewayLimits } from './gateway-limits.js';
import type { GatewayLogger } from './gateway-logger.js';
import { FailedAttempts } from './overload/failed-attempts.js';
import { Lobby } from './overload/lobby.js';
import type { Arrival, SessionHost } from './sessions/session-host.js';

export const realClock: Clock = {
  now: () => Date.now(),
  setTimer: (delayMs, wake) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};

export const silentLogger: GatewayLogger = { debug: () => undefined, warn: () => undefined, error: () => undefined };

/** Keeps connections for the test and starts no sessions. */
export class OpenHouse implements SessionHost {
  isFull = false;
  readonly arrivals: Arrival[] = [];
  readonly superseded: DeviceId[] = [];

  retryAfterMs: number | undefined;
  readonly reports: Readonly<Record<string, unknown>>[] = [];

  welcome(): 'welcome' | { readonly retryAfterMs: number } {
    return this.retryAfterMs === undefined ? 'welcome' : { retryAfterMs: this.retryAfterMs };
  }

  report(deviceId: DeviceId, type: string, data: Readonly<Record<string, unknown>>): void {
    this.reports.push({ deviceId, type, ...data });
  }

  supersede(deviceId: DeviceId): void {
    this.superseded.push(deviceId);
  }

  admit(arrival: Arrival): void {
    this.arrivals.push(arrival);
  }

  /** Waits for the nth connection. */
  async arrival(number = 1): Promise<Arrival> {
    return vi.waitFor(() => {
      const arrival = this.arrivals[number - 1];
      if (arrival === undefined) throw new Error('no connection yet');
      return arrival;
    });
  }
}

export function doorOptions() {
  const limits = { ...defaultGatewayLimits, unprovenConnectionsMax: 20 };
  return {
    auth: new OpenAuth(),
    host: new OpenHouse(),
    publishTopic: 'device-server',
    lobby: new Lobby(limits, realClock),
    attempts: new FailedAttempts(realClock),
    limits,
    counters: new GatewayCounters(),
    clock: realClock,
    logger: silentLogger,
  };
}
