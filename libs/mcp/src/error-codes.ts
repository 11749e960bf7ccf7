/** The catalogue of failure codes that calls, records, the API and logs share. JSON-RPC's numeric codes live in json-rpc-errors.ts. */

/** Certainly not sent. */
export type NotSentCode =
  'DEVICE_OFFLINE' | 'TOOL_UNKNOWN' | 'ARGUMENTS_INVALID' | 'REQUEST_TOO_LARGE' | 'TOOL_FORBIDDEN' | 'URL_FORBIDDEN' | 'OVERLOADED';

/** May have run on the device: no conclusive evidence. */
export type UnknownCode = 'TIMEOUT' | 'SESSION_CLOSED' | 'HUB_RESTARTED' | 'GATEWAY_UNREACHABLE';

/** The device answered, and the answer is a failure. */
export type DeviceFailureCode = 'DEVICE_ERROR' | 'MALFORMED_REPLY' | 'TOOL_GONE';

export type CallErrorCode = NotSentCode | UnknownCode | DeviceFailureCode;
