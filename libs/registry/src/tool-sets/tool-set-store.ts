/**
 * Content-addressed tool sets in PostgreSQL. Sets never change, so this process caches those that
 * it has seen.
 */
import { createHash } from 'node:crypto';
import { hubToolDialect, hubTools } from '@flotilla/mcp';
import type { ToolSetHash } from '@flotilla/mcp';
import { z } from 'zod';
import { LRUCache } from 'lru-cache';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { storableText, toJson } from '../database/json-rows.js';
import { bind, containsPattern } from '../database/sql-parameters.js';
import type { DeviceFilter, ResolvedFilter } from '../device-filter.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import type { Page, PageRequest } from '../page.js';
import { listedDeviceCondition } from '../devices/device-condition.js';
import { RenewedCounts } from '../devices/renewed-counts.js';
import { readFilterValues } from '../devices/filter-values.js';
import type { StoredTool, ToolSet } from './tool-set.js';

/** A fleet has tens of firmware versions, rarely hundreds. A set takes some tens of KB. */
const CACHED_SETS_MAX = 1_000;
/** A set in use is written again after this time: retention leaves what was written of late. */
const STORED_AGAIN_MS = 3_600_000;

/** A distinct tool of the fleet. */
export interface FleetToolRow {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly schemaHash: string;
  /** False if the hub does not check arguments by the schema. */
  readonly schemaKnown: boolean;
  readonly userOnly: boolean;
  readonly deviceCount: number;
}

export interface ToolFilter {
  readonly name?: string;
  readonly search?: string;
  readonly userOnly?: boolean;
  readonly devices?: DeviceFilter;
}

const INSERT = `
WITH known AS (
  INSERT INTO tool_set (hash, pins) VALUES ($1, $3)
  ON CONFLICT (hash) DO UPDATE SET stored_at = CURRENT_TIMESTAMP RETURNING hash)
INSERT INTO tool (
  tool_set_hash, position, name, description, input_schema, schema_hash, user_only, schema_known, polling_interval_ms)
SELECT k.hash, i.position, i.name, i.description, i.input_schema, i.schema_hash, i.user_only, i.schema_known,
  i.polling_interval_ms
FROM known k, json_to_recordset($2) AS i(
  position int, name text, description text, input_schema jsonb, schema_hash text, user_only boolean,
  schema_known boolean, polling_interval_ms int)
ON CONFLICT DO NOTHING`;

export class ToolSetStore {
  readonly #cache = new LRUCache<ToolSetHash, ToolSet>({ max: CACHED_SETS_MAX });
  /** Sets that this process has written of late. What it has read may be removed by now. */
  readonly #stored = new LRUCache<ToolSetHash, true>({ max: CACHED_SETS_MAX, ttl: STORED_AGAIN_MS });
  /** Sets that are being written: a thousand devices of one new firmware write its set once. */
  readonly #writing = new Map<ToolSetHash, Promise<void>>();
  /** By filter, including the access scope of the viewer. */
  readonly #deviceCounts = new RenewedCounts<readonly DeviceCount[]>(() => performance.now());

  constructor(private readonly database: Database) {}

  /**
   * Writes the set with its tools, or marks it as used. Costs nothing if this process did so within
   * the hour.
   */
  async ensure(toolSet: ToolSet): Promise<void> {
    if (this.#stored.get(toolSet.hash) === true) return;
    const writing =
      this.#writing.get(toolSet.hash) ?? this.#write(toolSet).finally(() => this.#writing.delete(toolSet.hash));
    this.#writing.set(toolSet.hash, writing);
    await writing;
  }

  async #write(toolSet: ToolSet): Promise<void> {
    const rows = toolSet.tools.map((tool, position) => ({
      position,
      name: tool.name,
      description: tool.description,
      input_schema: tool.inputSchema,
      schema_hash: schemaHashOf(tool.inputSchema),
      user_only: tool.userOnly,
      schema_known: tool.schemaKnown,
      polling_interval_ms: tool.pollingIntervalMs ?? null,
    }));
    await this.database.query({ text: INSERT }, [toolSet.hash, toJson(rows), toJson(toolSet.pins ?? [])]);
    this.#cache.set(toolSet.hash, toolSet);
    this.#stored.set(toolSet.hash, true);
  }

  async get(hash: ToolSetHash): Promise<ToolSet | undefined> {
    return this.#cache.get(hash) ?? (await this.getMany([hash])).get(hash);
  }

  /** The names that belong to a user-only tool on any firmware seen so far. */
  async userOnlyAmong(names: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ readonly name: string }>(
      {
        name: 'user-only-tools',
        text: `SELECT w.name FROM unnest($1::text[]) AS w(name)
               WHERE EXISTS (SELECT FROM tool t WHERE t.name = w.name AND t.user_only)`,
      },
      [names.map(storableText)],
    );
    return new Set(rows.map(({ name }) => name));
  }

  async getMany(hashes: readonly ToolSetHash[]): Promise<ReadonlyMap<ToolSetHash, ToolSet>> {
    const found = new Map<ToolSetHash, ToolSet>();
    for (const hash of hashes) {
      const cached = this.#cache.get(hash);
      if (cached !== undefined) found.set(hash, cached);
    }
    const missing = [...new Set(hashes.filter((hash) => !found.has(hash)))];
    if (missing.length === 0) return found;
    for (const toolSet of await this.#read(missing)) {
      this.#cache.set(toolSet.hash, toolSet);
      found.set(toolSet.hash, toolSet);
    }
    return found;
  }

  async #read(hashes: readonly ToolSetHash[]): Promise<readonly ToolSet[]> {
    const sets = await this.database.ask((prisma) =>
      prisma.toolSet.findMany({
        where: { hash: { in: [...hashes] } },
        include: { tools: { orderBy: { position: 'asc' } } },
      }),
    );
    return sets.map((set) => ({
      hash: set.hash as ToolSetHash,
      tools: set.tools.map((tool): StoredTool => ({
        name: tool.name,
        description: tool.description,
        inputSchema: jsonSchema.parse(tool.inputSchema),
        userOnly: tool.userOnly,
        schemaKnown: tool.schemaKnown,
        ...(tool.pollingIntervalMs !== null && { pollingIntervalMs: tool.pollingIntervalMs }),
      })),
      pins: storedPins.parse(set.pins),
    }));
  }

  /**
   * Distinct tools (name and schema) of the fleet, by name. Counts may be some seconds old, but a
   * named tool is found as soon as a device has it.
   */
  async pageOfTools(filter: ToolFilter | undefined, request: PageRequest): Promise<Page<FleetToolRow>> {
    const resolved = filter?.devices && (await resolveFilter(this.database, filter.devices));
    const key = JSON.stringify(resolved ?? {});
    const count = (): Promise<readonly DeviceCount[]> => this.#countDevices(resolved);
    const page = await this.#pageOf(await this.#deviceCounts.of(key, count), filter, request);
    if (page.rows.length > 0 || filter?.name === undefined || request.after !== undefined) return page;
    return this.#pageOf(await this.#deviceCounts.countNow(key, count), filter, request);
  }

  async #pageOf(
    counted: readonly DeviceCount[],
    filter: ToolFilter | undefined,
    request: PageRequest,
  ): Promise<Page<FleetToolRow>> {
    const after = decodeCursor('tools', request, z.tuple([z.string(), z.string()]));
    const parameters: unknown[] = [toJson(counted)];
    const conditions = ['TRUE'];
    if (filter?.name !== undefined) conditions.push(`t.name = ${bind(parameters, filter.name)}`);
    if (filter?.search !== undefined)
      conditions.push(
        `lower(t.name || E'\\n' || t.description) LIKE lower(${bind(parameters, containsPattern(filter.search))})`,
      );
    if (filter?.userOnly !== undefined) conditions.push(`t.user_only = ${bind(parameters, filter.userOnly)}`);
    if (after !== undefined)
      conditions.push(`(t.name, t.schema_hash) > (${bind(parameters, after[0])}, ${bind(parameters, after[1])})`);
    const ofHub = bind(parameters, HUB_TOOLS);
    // Hub tools are in no tool set.
    const records = await this.database.query<FleetToolRecord>(
      {
        text: `WITH counted AS MATERIALIZED (
                 SELECT * FROM json_to_recordset($1) AS c(tool_set_hash text, dialect text, devices int))
               SELECT t.name, t.schema_hash, min(t.description) AS description,
                 (array_agg(t.input_schema))[1] AS input_schema, bool_and(t.schema_known) AS schema_known,
                 bool_or(t.user_only) AS user_only, sum(t.devices)::int AS device_count
               FROM (
                 SELECT a.name, a.schema_hash, a.description, a.input_schema, a.schema_known, a.user_only, u.devices
                 FROM tool a JOIN counted u USING (tool_set_hash)
                 UNION ALL
                 SELECT h.name, h.schema_hash, h.description, h.input_schema, TRUE, h.user_only, u.devices
                 FROM json_to_recordset(${ofHub}) AS h(
                     name text, schema_hash text, description text, input_schema jsonb, user_only boolean),
                   (SELECT sum(devices) AS devices FROM counted WHERE dialect = '${hubToolDialect}') u
                 WHERE u.devices > 0
               ) t
               WHERE ${conditions.join(' AND ')}
               GROUP BY t.name, t.schema_hash ORDER BY t.name, t.schema_hash
               LIMIT ${bind(parameters, request.first + 1)}`,
      },
      parameters,
    );
    return toPage(records, request, 'tools', (record) => [record.name, record.schema_hash], toFleetTool);
  }

  /** Counts all devices with one statement, because there are few sets. */
  async #countDevices(filter: ResolvedFilter | undefined): Promise<readonly DeviceCount[]> {
    const parameters: unknown[] = [];
    const devices = listedDeviceCondition(
      filter,
      parameters,
      filter && (await readFilterValues(this.database, filter)),
    );
    const text = `SELECT d.tool_set_hash, d.dialect, count(*)::int AS devices FROM device d
      WHERE ${devices} GROUP BY d.tool_set_hash, d.dialect`;
    return this.database.query<DeviceCount>({ text }, parameters);
  }
}

function schemaHashOf(inputSchema: object): string {
  return createHash('sha256').update(JSON.stringify(inputSchema)).digest('hex');
}

const HUB_TOOLS = toJson(
  hubTools.map(({ name, description, inputSchema, userOnly }) => ({
    name,
    description,
    input_schema: inputSchema,
    user_only: userOnly,
    schema_hash: schemaHashOf(inputSchema),
  })),
);

const jsonSchema = z.record(z.string(), z.unknown());

/** Pins as `ensure` writes them. */
const storedPins = z.array(
  z
    .object({
      pin: z.number(),
      name: z.string(),
      type: z.string(),
      description: z.string(),
      sampling: z
        .object({ intervalMs: z.number(), bufferSize: z.number().optional() })
        .optional()
        .transform((sampling) => sampling && { intervalMs: sampling.intervalMs, bufferSize: sampling.bufferSize }),
    })
    .transform((pin) => ({ ...pin, sampling: pin.sampling })),
);

/** Number of devices with this dialect and tool set. */
interface DeviceCount {
  readonly tool_set_hash: string | null;
  readonly dialect: string;
  readonly devices: number;
}

interface FleetToolRecord {
  readonly name: string;
  readonly schema_hash: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly schema_known: boolean;
  readonly user_only: boolean;
  readonly device_count: number;
}

function toFleetTool(record: FleetToolRecord): FleetToolRow {
  return {
    name: record.name,
    description: record.description,
    inputSchema: record.input_schema,
    schemaHash: record.schema_hash,
    schemaKnown: record.schema_known,
    userOnly: record.user_only,
    deviceCount: record.device_count,
  };
}
