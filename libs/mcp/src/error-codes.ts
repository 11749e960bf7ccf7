/**
 * The catalogue of failure codes for calls, records, the API and logs. JSON-RPC's numeric codes are
 * in json-rpc-errors.ts.
 */

/** The call was certainly not sent. */
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
  // Redis is unreachable.
  | 'UNAVAILABLE';

/**
 * The image does not suit the device. ALREADY_CURRENT: it runs this image. DOWNLOADS_IN_VAIN: it
 * downloaded the image repeatedly without keeping it.
 */
type ImageMisfitCode =
  | 'IMAGE_WITHDRAWN'
  | 'WRONG_BOARD'
  | 'WRONG_CHIP'
  | 'NO_OTA_PARTITION'
  | 'IMAGE_DOES_NOT_FIT'
  | 'ALREADY_CURRENT'
  | 'DOWNLOADS_IN_VAIN';

/** The call may have run on the device. */
export type UnknownCode =
  'TIMEOUT' | 'SESSION_CLOSED' | 'HUB_RESTARTED' | 'GATEWAY_UNREACHABLE' | 'LARGE_MESSAGES_LOST';

/** The device answered with a failure. */
type DeviceFailureCode = 'DEVICE_ERROR' | 'MALFORMED_REPLY' | 'TOOL_GONE';

/** The effect of the call differs from what was expected, or could not be observed. */
export type VerificationCode =
  | 'READBACK_DIFFERS'
  | 'DID_NOT_RESTART'
  | 'NOT_APPLIED_OR_ROLLED_BACK'
  | 'UPDATE_DID_NOT_START_OR_FAILED'
  | 'LOST_AFTER_RESTART'
  | 'LOST_AFTER_UPDATE'
  | 'NOT_VERIFIED';

export type CallErrorCode = NotSentCode | ImageMisfitCode | UnknownCode | DeviceFailureCode | VerificationCode;
