/**
 * The state of voice servers as the processes of the hub see it. Each process stores its view in
 * its own row.
 */
import type { HubProcessId } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import { toJson } from '../database/json-rows.js';

/** The result of the latest attempt to open a conversation; `UNTRIED` before the first. */
export type VoiceServerState = 'UNTRIED' | 'WELL' | 'UNWELL';

/** The kind of the latest error. NOT_BOUND concerns one device and does not change the state. */
export type VoiceServerErrorCode = 'UNREACHABLE' | 'NOT_BOUND' | 'AUTH_FAILED' | 'ADDRESS_FORBIDDEN';

export interface VoiceServerRow {
  readonly url: string;
  readonly state: VoiceServerState;
  /** When the state began, ms since the Unix epoch. */
  readonly since: number;
  /** Number of open conversations. */
  readonly conversations: number;
  readonly lastError: string | undefined;
  readonly lastErrorCode: VoiceServerErrorCode | undefined;
}

/** Maximum of servers that are listed; a gateway remembers as many. */
const SERVERS_MAX = 1_000;

const REPORT = {
  name: 'report-voice-servers',
  text: 'UPDATE hub_process SET voice_servers = $2::jsonb WHERE id = $1',
};
const LIST = {
  name: 'voice-servers',
  text: `
    SELECT s.url,
           (array_agg(s.state ORDER BY s.state = 'UNTRIED', s.since DESC))[1] AS state,
           (array_agg(s.since ORDER BY s.state = 'UNTRIED', s.since DESC))[1]::float8 AS since,
           sum(s.conversations)::int AS conversations,
           (array_agg(s."lastError" ORDER BY s.since DESC)
             FILTER (WHERE s."lastError" IS NOT NULL))[1] AS "lastError",
           (array_agg(s."lastErrorCode" ORDER BY s.since DESC)
             FILTER (WHERE s."lastError" IS NOT NULL))[1] AS "lastErrorCode"
      FROM hub_process p,
           jsonb_to_recordset(p.voice_servers)
             AS s(url text, state text, since bigint, conversations int, "lastError" text, "lastErrorCode" text)
     WHERE p.lease_until > now()
     GROUP BY s.url ORDER BY s.url LIMIT $1`,
};

type Found = Omit<VoiceServerRow, 'lastError' | 'lastErrorCode'> & {
  readonly lastError: string | null;
  readonly lastErrorCode: VoiceServerErrorCode | null;
};

export class VoiceServerStore {
  constructor(private readonly database: Queryable) {}

  /** Replaces everything that the process reported before. */
  async report(processId: HubProcessId, servers: readonly VoiceServerRow[]): Promise<void> {
    await this.database.query(REPORT, [processId, toJson(servers)]);
  }

  /** Over all living processes, by URL. If several report a server, the latest change counts. */
  async list(): Promise<readonly VoiceServerRow[]> {
    const found = await this.database.query<Found>(LIST, [SERVERS_MAX]);
    return found.map(({ lastError, lastErrorCode, ...row }) => ({
      ...row,
      lastError: lastError ?? undefined,
      lastErrorCode: lastErrorCode ?? undefined,
    }));
  }
}
