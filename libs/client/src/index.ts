/** The typed client of the hub's API. The schema's own types are at `@flotilla/client/schema`. */
export { FlotillaClient } from './flotilla-client.js';
export type { Operation } from './operation.js';
export {
  defaultClientLimits,
  type ClientLimits,
  type FlotillaClientOptions,
  type RequestOptions,
} from './client-options.js';
export { expectAccepted, FlotillaError, type ClientErrorCode, type FlotillaErrorDetails } from './flotilla-error.js';
export type { DeviceListOptions } from './fleet/each-device.js';
export type { TailedEvent, TailOptions } from './fleet/tail-events.js';
export type { JobResultsFormat } from './fleet/job-results.js';
export type { FirmwareFile } from './fleet/upload-firmware.js';
export { scopes } from './scopes.js';
export type { SubscriptionOptions } from './transport/subscriptions.js';
export { verifyWebhook, type VerifyOptions } from './webhooks/verify-webhook.js';
export type {
  CallOutcomeFragment,
  DesiredStateStatusFragment,
  DeviceSummaryFragment,
  EventFieldsFragment,
  JobCountsFragment,
  JobStatusFragment,
  TargetOutcomeFragment,
} from './generated/operations.js';
