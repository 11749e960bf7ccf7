/** Decides what needs a second person. People are compared, not keys: a key counts as its owner. */
import type { ToolPolicy } from '@flotilla/jobs';
import type { FirmwareImageRow } from '@flotilla/registry';
import { ownerOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { changesFirmware } from '../calls/tool-gate.js';

/**
 * off: nothing waits. on: every job with a disruptive tool waits. Both on and firmware: new firmware needs two people, so that no person alone both
 * publishes an image and brings it to devices.
 */
export type ApprovalMode = 'off' | 'firmware' | 'on';

export interface ApprovalRules {
  readonly mode: ApprovalMode;
  /** Devices that one person may disrupt within an hour by single calls; beyond it a job is needed, which waits for approval. */
  readonly callDevicesMax: number;
}

export const approvalCallDevicesDefault = 10;
export const noApprovals: ApprovalRules = { mode: 'off', callDevicesMax: approvalCallDevicesDefault };

/** The time in which devices of single calls are counted, ms. */
export const approvalWindowMs = 3_600_000;

export interface AskedAct {
  readonly tool: string;
  readonly policy: Pick<ToolPolicy, 'disruptive'>;
  /** The image of a roll-out. */
  readonly image?: Pick<FirmwareImageRow, 'publisherIds'> | undefined;
}

/** Whether a job waits until another person approves it. */
export function needsApproval({ mode }: ApprovalRules, { tool, policy, image }: AskedAct, actor: Actor): boolean {
  if (mode === 'off') return false;
  if (mode === 'on' && policy.disruptive) return true;
  return image === undefined ? changesFirmware(tool) : mayBePublisher(image, actor);
}

/** Whether a single call counts towards `callDevicesMax`. */
export function isCounted({ mode }: ApprovalRules, { tool, policy }: Omit<AskedAct, 'image'>): boolean {
  return mode !== 'off' && ((mode === 'on' && policy.disruptive) || changesFirmware(tool));
}

/** Of an image that was published before publishers were recorded, every actor may be the publisher. */
function mayBePublisher({ publisherIds = [] }: Pick<FirmwareImageRow, 'publisherIds'>, actor: Actor): boolean {
  return publisherIds.length === 0 || publisherIds.includes(ownerOf(actor));
}
