/**
 * A roll-out is a job whose call the hub makes: the tool comes from the image, and each device gets
 * its own address.
 */
import type { FirmwareImageRow, FirmwareKind, Registry, Scope } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import type { CallRules } from '../calls/call-rules.js';
import type { JobRequest } from '../jobs/commands/job-request.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

export interface RolloutRequest extends Omit<JobRequest, 'tool' | 'arguments'> {
  readonly firmwareImageId: string;
}

const toolOf: Readonly<Record<FirmwareKind, string>> = {
  FIRMWARE: 'self.upgrade_firmware',
  ASSETS: 'self.assets.set_download_url',
};

/** Stands for each device's address where a call is checked before there is one. */
export const anyImageUrl = 'https://hub.invalid/t/download/image';

export interface PlannedRollout {
  readonly image: FirmwareImageRow;
  readonly request: JobRequest;
}

/** The image and the call. */
export async function planRollout(
  registry: Pick<Registry, 'firmwareImages'>,
  { firmwareImageId, ...request }: RolloutRequest,
): Promise<PlannedRollout | Refusal> {
  const image = await registry.firmwareImages.find(firmwareImageId);
  if (image === undefined)
    return refuse('NOT_FOUND', ['input', 'firmwareImageId'], `There is no firmware image "${firmwareImageId}".`);
  return { image, request: { ...request, tool: toolOf[image.kind], arguments: {} } };
}

export function refuseImage(
  { kind, models, signedBy, version, withdrawnAt }: FirmwareImageRow,
  actor: Actor,
  { mustBeSigned }: { readonly mustBeSigned: boolean },
): Refusal | undefined {
  const path = ['input', 'firmwareImageId'];
  if (mayNotRollOut(actor))
    return refuse(
      'TOOL_FORBIDDEN',
      path,
      `"${toolOf[kind]}" is for users only: a roll-out needs the scope TOOLS_CALL_PRIVILEGED.`,
    );
  if (withdrawnAt !== undefined)
    return refuse('CONFLICT', path, `The image ${version} was withdrawn. Publish it again to roll it out.`);
  if (models.length === 0)
    return refuse('CONFLICT', path, `The image ${version} is not published. Publish it for its boards first.`);
  if (mustBeSigned && signedBy === undefined) return refuse('CONFLICT', path, unsignedImage(version));
  return undefined;
}

/** The scope besides JOBS_WRITE that the actor lacks for a roll-out of any image. */
export function scopeToRollOut(
  { callRules }: { readonly callRules: Pick<CallRules, 'refuseActor'> },
  actor: Actor,
): Scope | undefined {
  if (mayNotRollOut(actor)) return 'TOOLS_CALL_PRIVILEGED';
  return callRules.refuseActor(toolOf.FIRMWARE, actor) && 'FIRMWARE_WRITE';
}

function mayNotRollOut({ mayCallUserOnly }: Actor): boolean {
  return !mayCallUserOnly;
}

/** With FLOTILLA_FIRMWARE_SIGNATURES=required. */
export function unsignedImage(version: string): string {
  const message = `The image ${version} has no valid signature, and this hub requires one`;
  return `${message}: upload the same file again with its signature.`;
}

/** What the image decides of its job; it overrides the tool's policy. */
export function jobOfImage({ id, kind }: FirmwareImageRow) {
  if (kind === 'ASSETS') return { firmwareImageId: id };
  return {
    firmwareImageId: id,
    verification: 'FIRMWARE',
    disruptive: true,
    disconnectExpected: true,
    idempotent: false,
    // An operator should look at a device that did not keep the image; a retry would hide it from
    // the abort rules.
    maxAttempts: 1,
  } as const;
}
