/** Recurring jobs for agents: a preview, the creation after a confirmation, and reading. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { CronTimes, type RecurringJobRequest } from '@flotilla/fleet';
import type { JsonObject } from '@flotilla/mcp';
import { principalRef, type RecurringJobRow, type Registry } from '@flotilla/registry';
import { shownArguments, type Reader } from '../../calls/shown-arguments.js';
import { shownDeviceFilter } from '../../devices/shown-device-filter.js';
import type { FleetOperations } from '../../fleet-operations.js';
import { jsonResult, quotingResult, refusalResult } from '../results/agent-results.js';
import { plainDescription, plainLine, plainName, plainValue } from '../results/untrusted-text.js';
import { actorOfCaller, readerOf, type AgentCaller } from '../session/agent-caller.js';
import { keyIn } from './call-on-many.js';
import { shownSample } from './device-arguments.js';
import { nextAfterPreview, standingDevices } from './standing-devices.js';

export interface RecurringToolDeps {
  readonly fleet: Pick<FleetOperations, 'createRecurringJob' | 'previewRecurringJob'>;
  readonly registry: Pick<Registry, 'recurringJobs'>;
}

/** Schedules of one answer, and times and jobs of each. */
const pageRows = 50;
const timesMax = 3;
const jobsMax = 5;

export async function createRecurringJob(
  { fleet }: RecurringToolDeps,
  caller: AgentCaller,
  args: JsonObject,
): Promise<CallToolResult> {
  const selected = await standingDevices(caller, args);
  if ('failure' in selected) return selected.failure;
  const request = requestOf(args, selected.filter);
  const preview = await fleet.previewRecurringJob(request, actorOfCaller(caller));
  if ('refusal' in preview)
    return refusalResult({ ...preview.refusal, message: `${preview.refusal.message} Nothing was done.` });
  const { job, nextRuns } = preview;
  const shown = { devices: job.targetCount, nextRuns: nextRuns.map(timeOf) };
  if (args['confirmDevices'] !== job.targetCount)
    return quotingResult({
      preview: true,
      ...shown,
      online: job.onlineCount,
      now: timeOf(Date.now()),
      ...shownSample(caller, job.sample),
      rejected: [
        ...(job.missingToolCount === 0
          ? []
          : [{ message: 'The device does not have the tool.', devices: job.missingToolCount }]),
        ...job.argumentErrors.map(({ message, deviceCount }) => ({
          message: plainDescription(message),
          devices: deviceCount,
        })),
      ],
      blastRadius: job.blastRadius,
      next: nextAfterPreview({ noun: 'schedule', listedBy: 'recurring_jobs' }, job.targetCount, args),
    });
  const saved = await fleet.createRecurringJob(request, keyIn(args), actorOfCaller(caller));
  if ('refusal' in saved) return refusalResult(saved.refusal);
  return jsonResult({ recurringJob: saved.job.id, ...shown, next: 'recurring_jobs shows its runs.' });
}

function requestOf(args: JsonObject, devices: RecurringJobRequest['job']['devices']): RecurringJobRequest {
  const { arguments: given } = args;
  return {
    name: String(args['name']),
    cron: String(args['cron']).trim(),
    timeZone: String(args['timeZone']),
    job: { tool: String(args['tool']), arguments: (given ?? {}) as JsonObject, devices },
    missed: 'SKIP',
    overlap: 'SKIP',
    until: undefined,
    enabled: true,
  };
}

/** A scoped key sees those that it created. */
export async function recurringJobs(
  { registry }: RecurringToolDeps,
  caller: AgentCaller,
  args: JsonObject,
): Promise<CallToolResult> {
  const { viewer, view } = caller;
  const creator = viewer.devices === undefined ? undefined : principalRef(viewer);
  const { id, after } = args;
  if (typeof id === 'string' && id !== '') {
    const row = await registry.recurringJobs.find(id);
    if (row === undefined || (creator !== undefined && row.createdById !== creator))
      return refusalResult({ code: 'NOT_FOUND', message: `There is no recurring job "${id.slice(0, 100)}".` });
    const { rows } = await view.jobs.page({ recurringJobId: row.id }, { first: jobsMax });
    const jobs = rows.map((job) => ({
      job: job.id,
      state: job.state,
      createdAt: timeOf(job.createdAt),
      ...(job.state === 'FINISHED' && { conclusion: job.conclusion }),
    }));
    return jsonResult({ recurringJobs: [{ ...(await shownRecurring(row, readerOf(caller))), jobs }], more: false });
  }
  const from = typeof after === 'string' && after !== '' ? { after } : {};
  const { rows, hasNextPage, cursors } = await registry.recurringJobs.page({ first: pageRows, ...from }, creator);
  const reader = readerOf(caller);
  const shown = await Promise.all(rows.map((row) => shownRecurring(row, reader)));
  return jsonResult({
    recurringJobs: shown,
    more: hasNextPage,
    ...(hasNextPage && { next: cursors.at(-1) }),
  });
}

async function shownRecurring(row: RecurringJobRow, reader: Reader) {
  const { id, cron, timeZone, enabled, pausedReason, request } = row;
  const { tool, arguments: given } = request;
  return {
    id,
    name: plainLine(row.name),
    cron,
    timeZone,
    enabled,
    createdBy: plainLine(row.createdBy),
    nextRuns: enabled ? new CronTimes(row).list(timesMax, Date.now(), row.until).map(timeOf) : [],
    ...(pausedReason !== undefined && { pausedReason }),
    ...(tool !== undefined && { tool: plainName(tool) }),
    ...(tool !== undefined &&
      given !== undefined && { arguments: plainValue(await shownArguments({ tool, arguments: given }, reader)) }),
    devices: plainValue(await shownDeviceFilter(request.devices, reader)),
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
