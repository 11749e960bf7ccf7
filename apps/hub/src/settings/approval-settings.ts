/** The settings of four eyes and of firmware signatures: what one person alone may do. */
import { approvalCallDevicesDefault, type ApprovalRules } from '@flotilla/fleet';
import { z } from 'zod';
import { unset } from './setting-kinds.js';

export const approvalSettings = {
  FLOTILLA_APPROVALS: z.preprocess(
    unset,
    z.enum(['on', 'off', 'firmware'], 'must be on, off or firmware').default('off'),
  ),
  FLOTILLA_APPROVAL_DEVICES: z.preprocess(
    unset,
    z
      .string()
      .default(String(approvalCallDevicesDefault))
      .refine((text) => /^\d{1,4}$/.test(text), 'must be a number of devices from 0 to 9999')
      .transform(Number),
  ),
  FLOTILLA_FIRMWARE_SIGNATURES: z.preprocess(
    unset,
    z.enum(['optional', 'required'], 'must be optional or required').default('optional'),
  ),
};

export interface ApprovalConfig {
  readonly approvals: ApprovalRules;
  /** Only images with a valid signature are published and rolled out. */
  readonly mustBeSigned: boolean;
}

type Values = z.infer<z.ZodObject<typeof approvalSettings>>;

export function approvalsOf(values: Values): ApprovalConfig {
  return {
    approvals: { mode: values.FLOTILLA_APPROVALS, callDevicesMax: values.FLOTILLA_APPROVAL_DEVICES },
    mustBeSigned: values.FLOTILLA_FIRMWARE_SIGNATURES === 'required',
  };
}
