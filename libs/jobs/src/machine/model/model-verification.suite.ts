/** The model of targets in VERIFYING: their evidence, their ends, and which verdicts are true. */
import type { CallId, DeviceId, HubProcessId, ToolResult } from '@flotilla/mcp';
import { assert } from 'vitest';
import { judgeReadback } from '../../verification/judge-readback.js';
import type { VerificationEnd, VerifyingTarget } from '../../verification/verification-end.js';
import { modelReadback, modelTimes } from './model-job.suite.js';
import type { ModelRows } from './model-rows.suite.js';
import type { ModelTarget } from './model-target.suite.js';

/** The targets that a look can judge. */
export function readVerifying(rows: ModelRows, now: number, callIds: readonly CallId[]) {
  const verifying = rows.inState('VERIFYING');
  const targets = verifying
    .filter((target) => {
      const { deadlineAt, device, softDeadlineAt = Infinity, sentEpoch } = target;
      const isBack = device.bootedAt > target.startedAt || (device.isOnline && device.epoch > sentEpoch);
      const isDue = Math.min(deadlineAt, softDeadlineAt) <= now;
      return isDue || callIds.includes(target.callId) || (isBack && rows.job.verification !== 'READBACK');
    })
    .map(evidenceOf);
  return { kind: 'verifyingRead', count: verifying.length, targets } as const;
}

/** No deadline is before `until`. */
export function extendVerifying(rows: ModelRows, until: number): void {
  for (const target of rows.inState('VERIFYING')) target.deadlineAt = Math.max(target.deadlineAt, until);
}

function evidenceOf(target: ModelTarget): VerifyingTarget {
  const { baseline, claims, device, error, sentEpoch, startedAt } = target;
  const hasBooted = device.bootedAt > startedAt;
  return {
    deviceId: device.id,
    claim: claims,
    attempts: target.attempts,
    callId: target.callId,
    gatewayId: 'gateway' as HubProcessId,
    callError: error,
    sentEpoch,
    epoch: device.epoch,
    isOnline: device.isOnline,
    hasLeft: device.hasLeft(sentEpoch),
    version: String(device.version),
    baselineVersion: baseline,
    expectedVersion: undefined,
    backSince: device.backSince(sentEpoch, baseline),
    connectedAt: device.connectedAt,
    bootedAt: hasBooted ? device.bootedAt : undefined,
    bootVersion: hasBooted ? String(device.version) : undefined,
    hasAnswered: false,
    download: 'NONE',
    cutRetries: 0,
    lastByteAt: undefined,
    deadlineAt: target.deadlineAt,
    softDeadlineAt: target.softDeadlineAt,
  };
}

/** Writes ends that are not overtaken by a later claim. */
export function writeVerifications(rows: ModelRows, ends: readonly VerificationEnd[], now: number) {
  const moved = new Set<DeviceId>();
  for (const { claim, deviceId, to } of ends) {
    const target = rows.inState('VERIFYING').find(({ device, claims }) => device.id === deviceId && claims === claim);
    if (target === undefined) continue;
    moved.add(deviceId);
    if (to.kind === 'again') Object.assign(target, { state: 'READY', error: to.error, readyAt: 0 });
    else Object.assign(target, { state: 'DECIDED', outcome: to.outcome, error: to.error, decidedAt: now });
  }
  return { kind: 'verificationsWritten', moved, isSomeReady: ends.some(({ to }) => to.kind === 'again') } as const;
}

/** What a read of the lamp proves. */
export function readEnd({ claims, device }: ModelTarget): VerificationEnd {
  const body = JSON.stringify({ lamp: { level: device.level } });
  const result: ToolResult = { content: [{ type: 'text', text: body }], isError: false };
  const { decision } = judgeReadback(result, modelReadback, { level: 1 });
  return { deviceId: device.id, claim: claims, to: { kind: 'decided', ...decision } };
}

/** The target of a device that is restarted: its failure is written before. */
export function failedTarget(rows: ModelRows, deviceId: DeviceId): ModelTarget {
  const target = rows.inState('DECIDED').find(({ device }) => device.id === deviceId);
  assert(target?.outcome === 'VERIFY_FAILED', 'only a device whose upgrade failed is restarted');
  return target;
}

export interface VerdictMoment {
  readonly now: number;
  /** When the hub was started last. */
  readonly hubStartedAt: number;
}

/** Compares a verdict with what the device really did, independently of the evidence. */
export function checkVerdict(rows: ModelRows, { deviceId, to }: VerificationEnd, moment: VerdictMoment): void {
  const target = rows.targets.find(({ device }) => device.id === deviceId);
  if (target === undefined || to.kind !== 'decided') return;
  const { baseline, deadlineAt, device, verifyingSince } = target;
  const hasLeft = device.leftAt.length > target.leftBefore;
  if (to.outcome !== 'SUCCEEDED') return checkFailure(target, to, hasLeft, moment);
  assert(hasLeft, 'a device that passes has restarted');
  if (rows.job.verification !== 'FIRMWARE') return;
  assert(String(device.version) !== baseline, 'a device that passes has other firmware');
  assert(moment.now - device.bootedAt >= modelTimes.soakMs, 'its firmware has run for the soak');
  const passesBy = Math.max(deadlineAt + modelTimes.soakMs, verifyingSince) + lookMsMax;
  assert(moment.now <= passesBy, 'it passes in time');
}

/** Without evidence of a failure, a target has until its deadline. */
function checkFailure(
  { deadlineAt, device, baseline, softDeadlineAt = Infinity, startedAt }: ModelTarget,
  { error }: VerificationEnd['to'],
  hasLeft: boolean,
  { now, hubStartedAt }: VerdictMoment,
): void {
  switch (error?.code) {
    case 'DID_NOT_RESTART':
      return assert(!hasLeft && now >= deadlineAt, 'it did not restart in time');
    case 'HUB_RESTARTED':
      return assert(hubStartedAt >= startedAt || now >= deadlineAt, 'the hub restarted after the send');
    case 'NOT_APPLIED_OR_ROLLED_BACK':
      return assert(device.epoch > 1 && String(device.version) === baseline, 'it is back with its old firmware');
    case 'UPDATE_DID_NOT_START_OR_FAILED':
      if (error.message.startsWith('The device answered')) return;
      return assert(now >= Math.min(deadlineAt, softDeadlineAt), 'it had its time to start');
    default:
      assert(now >= deadlineAt, 'no verification is given up early');
  }
}

/** From a deadline to the look that notices it, with the sleeps between the two, ms. */
export const lookMsMax = 3_000;
