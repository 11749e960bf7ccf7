/** The catalogue of failure codes that calls, records, the API and logs share. JSON-RPC's numeric codes live in json-rpc-errors.ts. */

/** Certainly not sent. */
export type NotSentCode =
  | 'DEVICE_OFFLINE'
  | 'TOOL_UNKNOWN'
  | 'ARGUMENTS_INVALID'
  | 'REQUEST_TOO_LARGE'
  | 'LARGE_MESSAGES_LOST'
  | 'TOOL_FORBIDDEN'
  | 'URL_FORBIDDEN'
  | 'APPROVAL_REQUIRED'
  | 'OVERLOADED'
  // Redis is away.
  | 'UNAVAILABLE';

/** The image is not for this device. ALREADY_CURRENT: it runs it. DOWNLOADS_IN_VAIN: it has fetched it again and again and does not keep it. */
export type ImageObjectionCode =
  'IMAGE_WITHDRAWN' | 'WRONG_BOARD' | 'WRONG_CHIP' | 'NO_OTA_PARTITION' | 'ALREADY_CURRENT' | 'DOWNLOADS_IN_VAIN';

/** May have run on the device: no conclusive evidence. */
export type UnknownCode =
  'TIMEOUT' | 'SESSION_CLOSED' | 'HUB_RESTARTED' | 'GATEWAY_UNREACHABLE' | 'LARGE_MESSAGES_LOST';

/** The device answered, and the answer is a failure. */
export type DeviceFailureCode = 'DEVICE_ERROR' | 'MALFORMED_REPLY' | 'TOOL_GONE';

/** What the device did after the call is not what the call was for, or could not be seen. */
export type VerificationCode =
  | 'READBACK_DIFFERS'
  | 'DID_NOT_RESTART'
  | 'NOT_APPLIED_OR_ROLLED_BACK'
  | 'UPDATE_DID_NOT_START_OR_FAILED'
  | 'LOST_AFTER_RESTART'
  | 'LOST_AFTER_UPDATE'
  | 'NOT_VERIFIED';

export type CallErrorCode = NotSentCode | ImageObjectionCode | UnknownCode | DeviceFailureCode | VerificationCode;
