/** The parts of alert rules that decisions need. The public words are in the GraphQL schema. */

export type AlertKind =
  | 'DEVICE_OFFLINE'
  | 'FLEET_OFFLINE_SHARE'
  | 'CALL_FAILURE_RATIO'
  | 'MEASUREMENT'
  | 'UNEXPECTED_RESTARTS'
  | 'JOB_STOPPED'
  | 'DESIRED_STATE_OUT_OF_SYNC'
  | 'CREDENTIAL_REFUSED'
  | 'WEBHOOK_FAILING'
  | 'HUB_UNHEALTHY';

export type AlertSeverity = 'INFO' | 'WARNING' | 'CRITICAL';

/** Kinds with one condition per device. Only these are grouped. */
const deviceKinds: ReadonlySet<AlertKind> = new Set([
  'DEVICE_OFFLINE',
  'MEASUREMENT',
  'UNEXPECTED_RESTARTS',
  'DESIRED_STATE_OUT_OF_SYNC',
  'CREDENTIAL_REFUSED',
]);

export function isDeviceKind(kind: AlertKind): boolean {
  return deviceKinds.has(kind);
}

export interface RuleTerms {
  readonly kind: AlertKind;
  /** How long a condition must hold before it fires, and be gone before it resolves. */
  readonly forSeconds: number;
  /** More devices than this at once are one alert. */
  readonly groupAbove: number;
}
