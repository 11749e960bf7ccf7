/** See README.md. */
export { isDeviceKind } from './alerts/alert-rule.js';
export type { AlertKind, AlertSeverity } from './alerts/alert-rule.js';
export type { AlertFacts } from './alerts/alert-facts.js';
export { messageOf, summaryOf, testMessage } from './alerts/alert-text.js';
export type { AlertLanguage, AlertMessage, DescribedAlert } from './alerts/alert-text.js';
export type { Condition, HubStart } from './alerts/condition.js';
export { countAlerts, decideFiring, GROUP_WINDOW_MS } from './alerts/decide-firing.js';
export type { Firing } from './alerts/decide-firing.js';
export { channelsToRepeat, channelsToResolve, isSilenced } from './alerts/decide-notifying.js';
export type { NotificationKind, SentNotification, Snoozes } from './alerts/decide-notifying.js';
export { decideResolving } from './alerts/decide-resolving.js';
export type { FiredCondition } from './alerts/decide-resolving.js';
export { CHANNEL_PACE_MS, GIVEN_UP_AFTER_MS, nextMessage, retryAfterMs } from './alerts/decide-sending.js';
export type { NextMessage, WaitingNotification } from './alerts/decide-sending.js';
export { planChart } from './measurements/choose-interval.js';
export type { ChartPlan, SeriesLevel } from './measurements/choose-interval.js';
export { chooseRule, latestFirst } from './measurements/choose-rule.js';
export { isStored } from './measurements/decide-point.js';
export type { Point } from './measurements/decide-point.js';
export {
  matchesPath,
  numberOf,
  numbersIn,
  parsePattern,
  pathMax,
  samplePath,
} from './measurements/measurement-path.js';
export type { PathPattern, ReportedNumber } from './measurements/measurement-path.js';
