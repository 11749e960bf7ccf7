/** Settings of approvals and firmware signatures. */
import { approvalCallDevicesDefault, type ApprovalRules } from '@flotilla/fleet';
import type { z } from 'zod';
import { choice, numberIn } from './setting-kinds.js';

export const approvalSettings = {
  FLOTILLA_APPROVALS: choice(['on', 'off', 'firmware'], 'off'),
  FLOTILLA_APPROVAL_DEVICES: numberIn(
    { fallback: approvalCallDevicesDefault, min: 0, max: 9_999 },
    'must be a number of devices from 0 to 9999',
  ),
  FLOTILLA_FIRMWARE_SIGNATURES: choice(['optional', 'required'], 'optional'),
};

export interface ApprovalConfig {
  readonly approvals: ApprovalRules;
  /** Only images with a valid signature can be published and rolled out. */
  readonly mustBeSigned: boolean;
}

type Values = z.infer<z.ZodObject<typeof approvalSettings>>;

export function approvalsOf(values: Values): ApprovalConfig {
  return {
    approvals: { mode: values.FLOTILLA_APPROVALS, callDevicesMax: values.FLOTILLA_APPROVAL_DEVICES },
    mustBeSigned: values.FLOTILLA_FIRMWARE_SIGNATURES === 'required',
  };
}
