/** Calls between processes: whoever wants to call a device hands the call to the gateway that holds its session, here or elsewhere. */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SessionCall, SettledCall } from '@flotilla/session';

/** A call on its way to a gateway. `epoch` set: only to that very connection (jobs fence their intents with it); otherwise to the live one. */
export interface RoutedCall {
  readonly deviceId: DeviceId;
  readonly epoch?: number;
  readonly call: SessionCall;
}

/** What a gateway offers to the router. `settle` runs exactly once; a device without a live session (of that epoch) is NOT_SENT with DEVICE_OFFLINE. */
export interface CallServer {
  call(routed: RoutedCall, settle: (settled: SettledCall) => void): void;
  /** Asks the device for its tools again; false where it has no live session. */
  refreshTools(deviceId: DeviceId): boolean;
  /** Ends the device's session. */
  disconnect(deviceId: DeviceId): boolean;
}

export interface CallRouter {
  /** Makes this process's gateway callable under its id. Resolves to a function that ends it. */
  serve(gatewayId: HubProcessId, server: CallServer): Promise<() => Promise<void>>;
  /**
   * Sends a call to a gateway. `settle` runs exactly once: a gateway that cannot be reached before
   * anything was handed over is NOT_SENT with DEVICE_OFFLINE, one that stops answering is UNKNOWN with GATEWAY_UNREACHABLE.
   */
  call(gatewayId: HubProcessId, routed: RoutedCall, settle: (settled: SettledCall) => void): void;
  refreshTools(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean>;
  disconnect(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean>;
}
