/** Calls between processes: a call for a device goes to the gateway that holds its session, here or in another process. */
import type { CallError, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SessionCall, SettledCall } from '@flotilla/session';

/** What the caller was allowed when the call was checked: the gateway of another process checks the call again by it. */
export interface CallRights {
  /** Whether user-only tools may be called. */
  readonly mayCallUserOnly: boolean;
  /** Whether tools may be called that replace what the device runs. */
  readonly mayChangeFirmware: boolean;
  /** An address in the arguments that the hub made for this call. */
  readonly ownUrl?: string | undefined;
}

/** A call on its way to a gateway. `epoch` set: only to that very connection (jobs fence their intents with it); otherwise to the live one. */
export interface RoutedCall {
  readonly deviceId: DeviceId;
  readonly epoch?: number;
  readonly rights: CallRights;
  readonly call: SessionCall;
}

/** What a gateway offers to the router. `settle` runs exactly once; a device without a live session (of that epoch) is NOT_SENT with DEVICE_OFFLINE. */
export interface CallServer {
  call(routed: RoutedCall, settle: (settled: SettledCall) => void): void;
  /** Checks a call that another process made, as that process should have; undefined where it may be sent. Without it every call may. */
  readonly refuse?: (routed: RoutedCall) => CallError | undefined;
  /** Asks the device for its tools again; false where it has no live session. */
  refreshTools(deviceId: DeviceId): boolean;
  /** Ends the device's session. */
  disconnect(deviceId: DeviceId): boolean;
}

export interface CallRouter {
  /** Makes this process's gateway callable under its id. Resolves to a function that ends it. */
  serve(gatewayId: HubProcessId, server: CallServer): Promise<() => Promise<void>>;
  /**
   * Sends a call to a gateway. `settle` runs exactly once: a gateway that cannot be reached before anything was handed over is NOT_SENT with
   * DEVICE_OFFLINE (UNAVAILABLE while Redis is away), one that stops answering is UNKNOWN with GATEWAY_UNREACHABLE.
   */
  call(gatewayId: HubProcessId, routed: RoutedCall, settle: (settled: SettledCall) => void): void;
  refreshTools(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean>;
  disconnect(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean>;
  /** Gateways of other processes that owe an answer. */
  awaited(): Iterable<HubProcessId>;
  /** The process of this gateway has lost its lease: what still waits for it is settled now. */
  ended(gatewayId: HubProcessId): void;
}
