/** Decides what needs a second person. People are compared, not keys: a key counts as its owner. */
import type { ToolPolicy } from '@flotilla/jobs';
import type { FirmwareImageRow } from '@flotilla/registry';
import { ownerOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { changesFirmware } from '../calls/call-rules.js';

/**
 * `on`: each job with a disruptive tool waits for approval. `firmware` and `on`: new firmware needs
 * two people, one to publish the image and one to roll it out.
 */
export type ApprovalMode = 'off' | 'firmware' | 'on';

export interface ApprovalRules {
  readonly mode: ApprovalMode;
  /**
   * Devices that one person may disrupt by single calls within an hour. More need a job with
   * approval.
   */
  readonly callDevicesMax: number;
}

export const approvalCallDevicesDefault = 10;
export const noApprovals: ApprovalRules = { mode: 'off', callDevicesMax: approvalCallDevicesDefault };

/** The time in which devices of single calls are counted, ms. */
export const approvalWindowMs = 3_600_000;

/** What may need an approval: a tool with its policy, and the image of a roll-out. */
export interface ApprovalSubject {
  readonly tool: string;
  readonly policy: Pick<ToolPolicy, 'disruptive'>;
  /** The image of a roll-out. */
  readonly image?: Pick<FirmwareImageRow, 'publisherIds'> | undefined;
}

/** Whether a job waits until another person approves it. */
export function needsApproval(
  { mode }: ApprovalRules,
  { tool, policy, image }: ApprovalSubject,
  actor: Pick<Actor, 'id' | 'owner'>,
): boolean {
  if (mode === 'off') return false;
  if (mode === 'on' && policy.disruptive) return true;
  return image === undefined ? changesFirmware(tool) : mayBePublisher(image, actor);
}

/** Whether a single call counts towards `callDevicesMax`. */
export function isCounted({ mode }: ApprovalRules, { tool, policy }: Omit<ApprovalSubject, 'image'>): boolean {
  return mode !== 'off' && ((mode === 'on' && policy.disruptive) || changesFirmware(tool));
}

/** Older images have no recorded publisher, so any actor may be the publisher. */
function mayBePublisher(
  { publisherIds = [] }: Pick<FirmwareImageRow, 'publisherIds'>,
  actor: Pick<Actor, 'id' | 'owner'>,
): boolean {
  return publisherIds.length === 0 || publisherIds.includes(ownerOf(actor));
}
