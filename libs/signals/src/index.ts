/** See README.md. */
export { planChart } from './measurements/choose-interval.js';
export type { ChartPeriod, ChartLimits, ChartPlan, SeriesLevel } from './measurements/choose-interval.js';
export { chooseRule, latestFirst } from './measurements/choose-rule.js';
export type { RuleOrder } from './measurements/choose-rule.js';
export { isStored } from './measurements/decide-point.js';
export type { Point, PointRule } from './measurements/decide-point.js';
export {
  matchesPath,
  numberOf,
  numbersIn,
  parsePattern,
  pathMax,
  samplePath,
  samplesSource,
} from './measurements/measurement-path.js';
export type { PathPattern, ReportedNumber } from './measurements/measurement-path.js';
