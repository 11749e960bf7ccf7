/** Fixtures for specs of ingresses: a host that admits every connection, real time, low limits. */
import type { CloseReason, DeviceId } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';
import { vi } from 'vitest';
import { OpenAuth } from './auth/device-auth.js';
import { GatewayCounters } from './gateway-counters.js';
import { defaultGatewayLimits } from './gateway-limits.js';
import type { GatewayLogger } from './gateway-logger.js';
import { DeviceFailures } from './overload/device-failures.js';
import { Lobby } from './overload/lobby.js';
import type { DeviceConnection, SessionHost } from './sessions/session-host.js';

export const realClock: Clock = {
  now: () => Date.now(),
  setTimer: (delayMs, wake) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};

export const silentLogger: GatewayLogger = { debug: () => undefined, warn: () => undefined, error: () => undefined };

/** Keeps connections for the test and starts no sessions. */
class RecordingHost implements SessionHost {
  isFull = false;
  readonly expulsions = 0;
  readonly connections: DeviceConnection[] = [];
  readonly superseded: DeviceId[] = [];

  isFullFor(): boolean {
    return this.isFull;
  }

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

  admit(connection: DeviceConnection): void {
    this.connections.push(connection);
  }

  /** Waits for the nth connection. */
  async connection(number = 1): Promise<DeviceConnection> {
    return vi.waitFor(() => {
      const connection = this.connections[number - 1];
      if (connection === undefined) throw new Error('no connection yet');
      return connection;
    });
  }
}

export function ingressOptions() {
  const limits = { ...defaultGatewayLimits, unprovenConnectionsMax: 20 };
  return {
    auth: new OpenAuth(),
    host: new RecordingHost(),
    publishTopic: 'device-server',
    lobby: new Lobby(limits, realClock),
    attempts: new DeviceFailures(realClock),
    limits,
    counters: new GatewayCounters(),
    clock: realClock,
    logger: silentLogger,
  };
}

/** Starts a transport and collects what it reports. */
export function listen({ transport }: DeviceConnection) {
  const heard = { messages: [] as string[], closes: [] as CloseReason[] };
  transport.onmessage = (text) => heard.messages.push(text);
  transport.onclose = (reason) => heard.closes.push(reason);
  transport.start();
  return heard;
}
