/**
 * Shows the effects of a job without creating it. It applies the same rules as creation, counts
 * inside PostgreSQL, and judges once per tool set.
 */
import { blastRadius, paceOf, planWaves, secondsAtPace } from '@flotilla/jobs';
import type { VerificationTimes } from '@flotilla/jobs';
import { scopedFilter } from '@flotilla/registry';
import type { DeviceRow, Registry, ToolSetCount } from '@flotilla/registry';
import type { Actor } from '../../actor.js';
import type { Refusal } from '../../refusal.js';
import { refuseUnknownGroups } from '../../groups/device-groups.js';
import { policyFor, termsOf } from './job-terms.js';
import type { AskedJob } from './job-terms.js';
import { refuseLaterJob, refuseNewJob } from './refuse-new-job.js';
import type { CreateJobDeps } from './create-job.js';
import { refuseJobRequest } from './job-request.js';
import type { JobRequest } from './job-request.js';
import { jobOfImage, planRollout } from '../../rollout/rollout-request.js';
import type { RolloutRequest } from '../../rollout/rollout-request.js';
import { warningsOf } from './job-warnings.js';
import type { JobWarning, JobWarningDeps } from './job-warnings.js';
import { requireToolScope } from './refuse-tool.js';
import { eligibilityOfJob } from '../eligibility-check.js';

export interface PreviewJobDeps extends CreateJobDeps, JobWarningDeps {
  readonly verification: VerificationTimes;
  readonly registry: CreateJobDeps['registry'] & Pick<Registry, 'rollouts'>;
}

interface ArgumentErrorGroup {
  readonly message: string;
  readonly deviceCount: number;
}

export interface JobPreview {
  readonly targetCount: number;
  readonly onlineCount: number;
  /** Devices without the tool, and devices whose tools are unknown. */
  readonly missingToolCount: number;
  /** What else would refuse the call before it is sent, most devices first. */
  readonly argumentErrors: readonly ArgumentErrorGroup[];
  readonly sample: readonly DeviceRow[];
  /** Sizes. Devices that are rejected at preparation are in no wave. */
  readonly waves: readonly number[];
  /** The most devices that a job can affect before its rules stop it, if each of them fails. */
  readonly blastRadius: number;
  /** The shortest duration that pace, soaks and health gate allow; undefined without a pace. */
  readonly estimatedSeconds: number | undefined;
  /** What an operator should know before the start. None of it prevents the job. */
  readonly warnings: readonly JobWarning[];
  readonly refusal: Refusal | undefined;
}

/** Devices shown as examples. */
const sampleDevices = 5;
/** Groups of errors, each with a distinct message. */
const groupsMax = 20;

const nothing: Omit<JobPreview, 'refusal'> = {
  targetCount: 0,
  onlineCount: 0,
  missingToolCount: 0,
  argumentErrors: [],
  sample: [],
  waves: [],
  blastRadius: 0,
  estimatedSeconds: undefined,
  warnings: [],
};

export function previewJob(
  deps: PreviewJobDeps,
  request: JobRequest | RolloutRequest,
  actor: Actor,
): Promise<JobPreview> {
  return previewWith(refuseNewJob, deps, request, actor);
}

/** Of a job that a schedule creates. */
export function previewLaterJob(
  deps: PreviewJobDeps,
  request: JobRequest | RolloutRequest,
  actor: Actor,
): Promise<JobPreview> {
  return previewWith(refuseLaterJob, deps, request, actor);
}

async function previewWith(
  refuseJob: typeof refuseNewJob,
  deps: PreviewJobDeps,
  request: JobRequest | RolloutRequest,
  actor: Actor,
): Promise<JobPreview> {
  if (!('firmwareImageId' in request)) {
    requireToolScope(actor);
    return preview(refuseJob, deps, { request }, actor);
  }
  const planned = await planRollout(deps.registry, request);
  return 'code' in planned ? { ...nothing, refusal: planned } : preview(refuseJob, deps, planned, actor);
}

async function preview(
  refuseJob: typeof refuseNewJob,
  deps: PreviewJobDeps,
  { request: given, image }: AskedJob,
  actor: Actor,
): Promise<JobPreview> {
  const { registry, clock } = deps;
  const view = registry.viewFor(actor);
  const invalid = refuseJobRequest(given) ?? (await refuseUnknownGroups(view, given.devices, ['input', 'devices']));
  if (invalid !== undefined) return { ...nothing, refusal: invalid };
  const request = { ...given, devices: scopedFilter(given.devices, actor.devices) };
  const asked = { request, image };
  const now = clock.now();
  const policy = await policyFor(deps, asked);
  const terms = { ...termsOf(request, policy, now), firmwareImageId: undefined, ...(image && jobOfImage(image)) };
  const [counts, page, refusal, formerImagesMissing] = await Promise.all([
    registry.targetPreparation.countByToolSet(request.devices),
    view.devices.page(request.devices, 'ID_ASC', { first: sampleDevices }),
    refuseJob(deps, asked, policy, actor),
    image ? registry.rollouts.formerImagesMissing(image.id, request.devices) : [],
  ]);
  const targetCount = sum(counts, ({ devices }) => devices);
  const { rejected, ...figures } = await judge(deps, asked, actor, counts);
  const sendable = Math.max(0, targetCount - rejected);
  const waves = planWaves(sendable, terms.waves);
  const pace = paceOf(terms);
  // A health gate also watches the last wave, or a job without waves.
  const watchSeconds = terms.healthGate?.observeSeconds ?? 0;
  const soakSeconds = sum(waves.slice(0, -1), (wave) => Math.max(wave.soakSeconds, watchSeconds)) + watchSeconds;
  return {
    targetCount,
    onlineCount: sum(counts, ({ online }) => online),
    ...figures,
    sample: page.rows,
    waves: waves.map(({ size }) => size),
    blastRadius: blastRadius(terms, sendable, deps.verification),
    estimatedSeconds: pace && secondsAtPace(pace, sendable) + soakSeconds,
    warnings: warningsOf(deps, { tool: request.tool, policy, image, formerImagesMissing }, actor),
    refusal,
  };
}

async function judge(
  deps: PreviewJobDeps,
  { request, image }: AskedJob,
  { mayCallUserOnly }: Actor,
  counts: readonly ToolSetCount[],
): Promise<Pick<JobPreview, 'missingToolCount' | 'argumentErrors'> & { readonly rejected: number }> {
  const eligibility = eligibilityOfJob(
    deps,
    { tool: request.tool, arguments: request.arguments, mayCallUserOnly },
    image !== undefined,
  );
  await eligibility.judge(counts.flatMap(({ toolSetHash }) => toolSetHash ?? []));
  const incompatible = image ? await deps.registry.rollouts.incompatibilities(image.id, request.devices) : [];
  let missingToolCount = 0;
  // Devices that have not reported their tools are not rejected before they do.
  let unknownCount = 0;
  const errors = new Map<string, number>();
  const add = (message: string, devices: number) => errors.set(message, (errors.get(message) ?? 0) + devices);
  for (const { message, deviceCount } of incompatible) add(message, deviceCount);
  for (const { toolSetHash, devices: all } of counts) {
    // A device that the image does not fit is refused for this, regardless of its tools.
    const unfit = incompatible.filter((group) => group.toolSetHash === toolSetHash);
    const devices = Math.max(0, all - sum(unfit, ({ deviceCount }) => deviceCount));
    if (devices === 0) continue;
    const error = eligibility.rejectionOf(toolSetHash);
    if (toolSetHash === undefined && error !== undefined) unknownCount += devices;
    if (error?.code === 'TOOL_UNKNOWN') missingToolCount += devices;
    else if (error !== undefined) add(error.message, devices);
  }
  const argumentErrors = [...errors].map(([message, deviceCount]) => ({ message, deviceCount }));
  argumentErrors.sort((one, other) => other.deviceCount - one.deviceCount);
  const rejected = missingToolCount + sum(argumentErrors, ({ deviceCount }) => deviceCount) - unknownCount;
  return { missingToolCount, argumentErrors: argumentErrors.slice(0, groupsMax), rejected };
}

function sum<Item>(items: readonly Item[], valueOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + valueOf(item), 0);
}
