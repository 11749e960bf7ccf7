/** What the texts of an alert are made of. Stored with the alert, so it holds no secrets. */
import type { AlertKind } from './alert-rule.js';

export interface AlertFacts {
  readonly kind: AlertKind;
  readonly ruleName: string;
  /** Device, job or webhook by its name; undefined for a group and for the fleet. */
  readonly label?: string | undefined;
  /** Names of a few devices of a group. */
  readonly examples?: readonly string[] | undefined;
  /** When the first and the last condition began, ms since the Unix epoch. */
  readonly beganFrom: number;
  readonly beganTo: number;
  /** A share, ratio, count or measured value, by kind. */
  readonly value?: number | undefined;
  /** The number that `value` is a part of: devices of the rule, or calls. */
  readonly total?: number | undefined;
  readonly threshold?: number | undefined;
  readonly below?: boolean | undefined;
  readonly windowSeconds?: number | undefined;
  readonly path?: string | undefined;
  /** A reason in words, such as that of a failing webhook. */
  readonly reason?: string | undefined;
  readonly jobId?: string | undefined;
  /** The device group that the rule names. */
  readonly group?: string | undefined;
}
