/**
 * Holds the only connection to one microcontroller: dials, waits for a quiet line, hands the
 * connection over, and dials again after it ended. A board serves one client at a time. [mcpu §1.2]
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { DialTarget } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';
import { TrafficControl } from '../overload/traffic-control.js';
import { peerOf } from '../sessions/session-host.js';
import type { SessionHost } from '../sessions/session-host.js';
import { parseDialAddress, type DialRules } from './dial-rules.js';
import { redialDelayMs } from './redial-delay.js';
import { TcpLineTransport } from './tcp-line-transport.js';

export interface DialerOptions {
  readonly host: SessionHost;
  readonly rules: DialRules;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  readonly logger: GatewayLogger;
}

export class Dialer {
  #socket: Socket | undefined;
  #cancelTimer: () => void = () => undefined;
  #failures = 0;
  /** Addresses whose last connection did not last: the others are dialled first. */
  readonly #failedHosts = new Set<string>();
  #isStopped = false;
  /** Set when the device must not be dialled again; called once it has no connection. */
  #onFree: (() => void) | undefined;

  constructor(
    readonly target: DialTarget,
    private readonly options: DialerOptions,
  ) {}

  /** Must be called once. */
  start(): void {
    void this.#judgeAndDial();
  }

  /** Also ends the connection. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#socket?.destroy();
  }

  /** Keeps a connection until its session ends, and dials no more. */
  retire(onFree: () => void): void {
    this.#cancelTimer();
    this.#onFree = onFree;
    if (this.#socket === undefined || this.#socket.destroyed) onFree();
  }

  /** The address and the allowed networks may have changed since the last attempt. */
  async #judgeAndDial(): Promise<void> {
    const { deviceId, address, byAdmin } = this.target;
    const verdict = await this.options.rules.judge(address, byAdmin);
    if (this.#isStopped || this.#onFree !== undefined) return;
    const host = verdict.kind === 'allowed' ? this.#nextOf(verdict.addresses) : undefined;
    if (host !== undefined) return this.#dial(host, parseDialAddress(address).port);
    if (verdict.kind === 'refused')
      this.options.logger.warn({ deviceId, address, reason: verdict.message }, 'did not dial a device');
    this.#again();
  }

  /** Name servers list the addresses in another order each time, so a position says nothing. */
  #nextOf(hosts: readonly string[]): string | undefined {
    const next = hosts.find((host) => !this.#failedHosts.has(host));
    if (next !== undefined) return next;
    this.#failedHosts.clear();
    return hosts[0];
  }

  #dial(host: string, port: number): void {
    const { limits } = this.options;
    const dialledAt = this.options.clock.now();
    const socket = connect({
      host,
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: limits.pingIntervalMs,
    });
    this.#socket = socket;
    const giveUp = this.options.clock.setTimer(limits.dialTimeoutMs, () => socket.destroy());
    socket.on('error', (error) =>
      this.options.logger.debug({ err: error, deviceId: this.target.deviceId }, 'could not dial a device'),
    );
    socket.once('connect', () => {
      giveUp();
      this.#awaitQuiet(socket);
    });
    socket.once('close', () => {
      giveUp();
      // A board that worked until now is dialled soon; one that fails repeatedly is dialled ever
      // less often.
      if (this.options.clock.now() - dialledAt >= limits.dialProvenMs) this.#failures = 0;
      else this.#failedHosts.add(host);
      this.#again();
    });
  }

  #again(): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    if (this.#onFree !== undefined) return this.#onFree();
    this.options.counters.add('dial', 'again');
    this.#cancelTimer = this.options.clock.setTimer(
      redialDelayMs(this.options.limits, this.#failures, Math.random()),
      () => void this.#judgeAndDial(),
    );
    this.#failures += 1;
  }

  /** Boards print while they start, and the greeting would be lost. [mcpu §1.4] */
  #awaitQuiet(socket: Socket): void {
    const { clock, limits } = this.options;
    const noLaterThan = clock.now() + limits.dialQuietMsMax;
    let cancelWait: () => void = () => undefined;
    const wait = () => {
      cancelWait();
      cancelWait = clock.setTimer(Math.max(0, Math.min(limits.dialQuietMs, noLaterThan - clock.now())), () => {
        socket.off('data', wait);
        this.#connected(socket);
      });
    };
    socket.on('data', wait);
    socket.once('close', () => cancelWait());
    wait();
  }

  #connected(socket: Socket): void {
    const { clock, counters, host, limits } = this.options;
    const { deviceId } = this.target;
    if (host.isFullFor(deviceId)) {
      socket.destroy();
      return;
    }
    const transport = new TcpLineTransport(socket, {
      ...limits,
      clock,
      onOverlong: () => counters.add('anomaly', 'line_overlong'),
      onTraffic: (lines, bytes) => traffic.count(lines, bytes),
    });
    const traffic = new TrafficControl({
      clock,
      limits,
      counters,
      hold: () => socket.pause(),
      release: () => socket.resume(),
      cut: () => transport.close('traffic_exceeded'),
      report: (throttle) => host.report(deviceId, 'device.throttled', { transport: 'TCP', ...throttle }),
    });
    socket.once('close', () => traffic.end());
    host.admit({ deviceId, kind: 'TCP', dialect: 'MCPU', transport, ...peerOf(socket) });
  }
}
