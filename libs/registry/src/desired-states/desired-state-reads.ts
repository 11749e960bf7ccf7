/** What people see of desired states: lists, summaries and targets, also within an access scope. */
import type { ComplianceState } from '@flotilla/desired-state';
import { z } from 'zod';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { grouped } from '../database/grouped.js';
import { isUuid } from '../database/uuid-v7.js';
import { deviceCondition } from '../devices/device-condition.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import type { DeviceFilter } from '../device-filter.js';
import type { JobScope } from '../jobs/job-scope.js';
import type { Page, PageRequest } from '../page.js';
import type {
  DesiredStateEditRow,
  DesiredStateRow,
  DesiredStateSummaryRow,
  DesiredTargetRow,
} from './desired-state.js';
import { countValues, haveCommonDevice } from './preview-counts.js';
import type { ReadProperty, ValueCount } from './preview-counts.js';
import { OMITTED, TARGET_COLUMNS, toDesiredState, toEdit, toTarget } from './desired-state-rows.js';
import type { TargetRecord } from './desired-state-rows.js';

interface CountRecord {
  readonly desired_state_id: string;
  readonly state: ComplianceState;
  readonly targets: number;
}

export class DesiredStateReads {
  constructor(private readonly database: Database) {}

  async find(id: string, scope?: JobScope): Promise<DesiredStateRow | undefined> {
    return (await this.findMany([id], scope))[0];
  }

  /** In the order of the input; undefined for those that are not visible. */
  async findMany(ids: readonly string[], scope?: JobScope): Promise<readonly (DesiredStateRow | undefined)[]> {
    const visible = await this.#visible(ids.filter(isUuid), scope);
    const where = { id: { in: [...visible] } };
    const rows = await this.database.ask((prisma) => prisma.desiredState.findMany({ where, omit: OMITTED }));
    const byId = new Map(rows.map((row) => [row.id, shownWithin(toDesiredState(row), scope)]));
    return ids.map((id) => byId.get(id.toLowerCase()));
  }

  /** By name. */
  async page(request: PageRequest, scope?: JobScope): Promise<Page<DesiredStateRow>> {
    const after = decodeCursor('desired-states', request, z.tuple([z.string()]));
    const where = {
      ...(after === undefined ? {} : { name: { gt: after[0] } }),
      ...(scope === undefined ? {} : { id: { in: [...(await this.#visible(undefined, scope))] } }),
    };
    const query = { where, orderBy: { name: 'asc' as const }, take: request.first + 1, omit: OMITTED };
    const rows = await this.database.ask((prisma) => prisma.desiredState.findMany(query));
    return toPage(
      rows,
      request,
      'desired-states',
      ({ name }) => [name],
      (row) => shownWithin(toDesiredState(row), scope),
    );
  }

  async count(scope?: JobScope): Promise<number> {
    if (scope !== undefined) return (await this.#visible(undefined, scope)).size;
    return this.database.ask((prisma) => prisma.desiredState.count());
  }

  /** In the order of the input. Within a scope the rows are counted, otherwise the counters. */
  async summaries(ids: readonly string[], scope?: JobScope): Promise<readonly DesiredStateSummaryRow[]> {
    const parameters: unknown[] = [ids];
    const isInScope = await this.#scopeOf(parameters, scope);
    const [counts, drifts] = await Promise.all([
      this.database.query<CountRecord>(
        {
          text:
            scope === undefined
              ? `SELECT desired_state_id, state, targets FROM desired_state_counter
                 WHERE desired_state_id = ANY ($1::uuid[]) AND targets > 0`
              : `SELECT t.desired_state_id, t.state, count(*)::int AS targets FROM desired_state_target t
                 WHERE t.desired_state_id = ANY ($1::uuid[]) AND ${isInScope} GROUP BY 1, 2`,
        },
        scope === undefined ? [ids] : parameters,
      ),
      this.database.query<{ readonly desired_state_id: string; readonly since: Date }>(
        {
          text: `SELECT t.desired_state_id, min(t.since) AS since FROM desired_state_target t
            WHERE t.desired_state_id = ANY ($1::uuid[]) AND t.state IN ('DRIFTED', 'HELD') AND ${isInScope} GROUP BY 1`,
        },
        parameters,
      ),
    ]);
    const since = new Map(drifts.map((drift) => [drift.desired_state_id, drift.since.getTime()]));
    return grouped(ids, counts, ({ desired_state_id: id }) => id).map((rows, index) => ({
      counts: new Map(rows.map(({ state, targets }) => [state, targets])),
      oldestDriftAt: since.get(ids[index] ?? ''),
    }));
  }

  /** By device id; only those in one of the states, if states are given. */
  async targets(
    id: string,
    states: readonly ComplianceState[] | undefined,
    request: PageRequest,
    scope?: JobScope,
  ): Promise<Page<DesiredTargetRow>> {
    const after = decodeCursor('desired-targets', request, z.tuple([z.string()]));
    const parameters: unknown[] = [id, states ? [...new Set(states)] : null, after?.[0] ?? '', request.first + 1];
    const isInScope = await this.#scopeOf(parameters, scope);
    const records = await this.database.query<TargetRecord>(
      {
        text: `SELECT ${TARGET_COLUMNS} FROM desired_state_target t
          WHERE t.desired_state_id = $1 AND ($2::text[] IS NULL OR t.state = ANY ($2::text[])) AND t.device_id > $3
            AND ${isInScope}
          ORDER BY t.device_id LIMIT $4`,
      },
      parameters,
    );
    return toPage(records, request, 'desired-targets', (record) => [record.device_id], toTarget);
  }

  /** The entries of each device, in the order of the input. */
  async targetsOf(deviceIds: readonly string[]): Promise<readonly (readonly DesiredTargetRow[])[]> {
    const records = await this.database.query<TargetRecord>(
      {
        name: 'desired-of-devices',
        text: `SELECT ${TARGET_COLUMNS} FROM desired_state_target t JOIN desired_state s ON s.id = t.desired_state_id
          WHERE t.device_id = ANY ($1::text[]) ORDER BY t.device_id, s.name`,
      },
      [deviceIds],
    );
    return grouped(deviceIds, records, (record) => record.device_id).map((rows) => rows.map(toTarget));
  }

  /** Latest first. */
  async edits(id: string, first: number): Promise<readonly DesiredStateEditRow[]> {
    return (await this.editsPage(id, { first })).rows;
  }

  /** Latest first. */
  async editsPage(id: string, request: PageRequest): Promise<Page<DesiredStateEditRow>> {
    const after = decodeCursor('desired-edits', request, z.tuple([z.int32()]));
    const query = {
      where: { desiredStateId: id, ...(after === undefined ? {} : { generation: { lt: after[0] } }) },
      orderBy: { generation: 'desc' as const },
      take: request.first + 1,
      omit: { desiredStateId: true, secretArguments: true },
    };
    const rows = await this.database.ask((prisma) => prisma.desiredStateEdit.findMany(query));
    return toPage(rows, request, 'desired-edits', ({ generation }) => [generation], toEdit);
  }

  /** The devices that match, counted by their tools and their last value. */
  countValues(devices: DeviceFilter, property: ReadProperty, sampleMax: number): Promise<readonly ValueCount[]> {
    return countValues(this.database, devices, property, sampleMax);
  }

  haveCommonDevice(one: DeviceFilter, other: DeviceFilter): Promise<boolean> {
    return haveCommonDevice(this.database, one, other);
  }

  /** Those that a viewer with a scope created, and those that cover one of its devices. */
  async #visible(ids: readonly string[] | undefined, scope: JobScope | undefined): Promise<ReadonlySet<string>> {
    if (scope === undefined) return new Set(ids);
    const parameters: unknown[] = [ids ?? null, scope.creator];
    const isInScope = await this.#scopeOf(parameters, scope);
    const rows = await this.database.query<{ readonly id: string }>(
      {
        text: `SELECT s.id FROM desired_state s WHERE ($1::uuid[] IS NULL OR s.id = ANY ($1::uuid[]))
          AND (s.created_by_id = $2 OR EXISTS (
            SELECT FROM desired_state_target t WHERE t.desired_state_id = s.id AND ${isInScope}))`,
      },
      parameters,
    );
    return new Set(rows.map(({ id }) => id));
  }

  async #scopeOf(parameters: unknown[], scope: JobScope | undefined): Promise<string> {
    if (scope === undefined) return 'TRUE';
    const condition = deviceCondition(
      await resolveFilter(this.database, { within: scope.within, any: [{ all: true }] }),
      parameters,
    );
    return `EXISTS (SELECT FROM device d WHERE d.id = t.device_id AND ${condition})`;
  }
}

/** The times until others were in sync are of all devices, so they are hidden within a scope. */
function shownWithin(state: DesiredStateRow, scope: JobScope | undefined): DesiredStateRow {
  if (scope === undefined || state.createdById === scope.creator) return state;
  return { ...state, t50Ms: undefined, t95Ms: undefined, t99Ms: undefined };
}
