/** Delivers calls to gateways of this process: a map lookup and a direct call, without a copy. */
import type { CallError, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { BusError } from '../bus-error.js';
import type { BusLogger } from '../bus-logger.js';
import { gatewayAbsent, gatewaySilent, settleOnce } from './call-outcomes.js';
import type { CallRouter, CallServer, RoutedCall } from './call-router.js';

export class LocalCallRouter implements CallRouter {
  readonly #servers = new Map<HubProcessId, CallServer>();

  constructor(private readonly logger: BusLogger) {}

  serve(gatewayId: HubProcessId, server: CallServer): Promise<() => Promise<void>> {
    if (this.#servers.has(gatewayId)) {
      return Promise.reject(new BusError('GATEWAY_ALREADY_SERVED', `Gateway ${gatewayId} is served already.`));
    }
    this.#servers.set(gatewayId, server);
    return Promise.resolve(() => {
      if (this.#servers.get(gatewayId) === server) this.#servers.delete(gatewayId);
      return Promise.resolve();
    });
  }

  /** Whether this process serves the gateway. */
  has(gatewayId: HubProcessId): boolean {
    return this.#servers.has(gatewayId);
  }

  deliver(gatewayId: HubProcessId, routed: RoutedCall, settle: (settled: SettledCall) => void): void {
    const server = this.#servers.get(gatewayId);
    const settleFirst = settleOnce(settle);
    if (server === undefined) {
      queueMicrotask(() => settleFirst(gatewayAbsent(routed, Date.now())));
      return;
    }
    try {
      server.enqueue(routed, settleFirst);
    } catch (cause) {
      // A server must not throw. If it does, the bytes may still have been sent.
      this.logger.error(
        { err: cause, deviceId: routed.deviceId, callId: routed.call.callId },
        'gateway threw on a call',
      );
      settleFirst(gatewaySilent(routed, Date.now()));
    }
  }

  /** Checks a call of another process for the gateway; undefined if it may be sent. */
  refusalOf(gatewayId: HubProcessId, routed: RoutedCall): CallError | undefined {
    return this.#servers.get(gatewayId)?.refusalOf?.(routed);
  }

  refreshTools(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean> {
    return Promise.resolve(this.#servers.get(gatewayId)?.refreshTools(deviceId) ?? false);
  }

  disconnect(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean> {
    return Promise.resolve(this.#servers.get(gatewayId)?.disconnect(deviceId) ?? false);
  }

  awaited(): readonly HubProcessId[] {
    return [];
  }

  ended(): void {
    // All gateways here belong to this process.
  }
}
