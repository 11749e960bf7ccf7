/**
 * Routes calls between processes: a call goes to the gateway that holds the session of its device,
 * here or in another process.
 */
import type { CallError, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SessionCall, SettledCall } from '@flotilla/session';

/** The rights of the caller. The gateway of another process checks the call against them again. */
export interface CallRights {
  /** Whether user-only tools may be called. */
  readonly mayCallUserOnly: boolean;
  /** Whether tools may be called that replace the firmware. */
  readonly mayChangeFirmware: boolean;
  /** A URL in the arguments that the hub created for this call. */
  readonly ownUrl?: string | undefined;
}

/**
 * A call for a gateway. With `epoch` it is only for that connection (jobs fence their intents with
 * it), otherwise for the live one.
 */
export interface RoutedCall {
  readonly deviceId: DeviceId;
  readonly epoch?: number;
  readonly rights: CallRights;
  readonly call: SessionCall;
  /** The context of a recorded trace; see `CallTracer`. */
  readonly trace?: string;
}

/**
 * The gateway's side. It puts calls into the queue of a session; `settle` runs exactly once. A
 * device without a live session (of that epoch) is NOT_SENT with DEVICE_OFFLINE.
 */
export interface CallServer {
  enqueue(routed: RoutedCall, settle: (settled: SettledCall) => void): void;
  /**
   * Checks a call of another process again; undefined if it may be sent. Without this function
   * every call may.
   */
  readonly refusalOf?: (routed: RoutedCall) => CallError | undefined;
  /** Requests the tools of the device again; false without a live session. */
  refreshTools(deviceId: DeviceId): boolean;
  /** Ends the device's session. */
  disconnect(deviceId: DeviceId): boolean;
}

export interface CallRouter {
  /** Makes this process's gateway reachable under its id. Resolves to a function that ends this. */
  serve(gatewayId: HubProcessId, server: CallServer): Promise<() => Promise<void>>;
  /**
   * Delivers a call to a gateway; `settle` runs exactly once. Not delivered: NOT_SENT with
   * DEVICE_OFFLINE, or UNAVAILABLE without Redis. No answer: UNKNOWN with GATEWAY_UNREACHABLE.
   */
  deliver(gatewayId: HubProcessId, routed: RoutedCall, settle: (settled: SettledCall) => void): void;
  refreshTools(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean>;
  disconnect(gatewayId: HubProcessId, deviceId: DeviceId): Promise<boolean>;
  /** Gateways of other processes with pending answers. */
  awaited(): Iterable<HubProcessId>;
  /** The process of this gateway lost its lease: settles the calls that wait for it. */
  ended(gatewayId: HubProcessId): void;
}
