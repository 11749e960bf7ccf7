/** How the hub's processes find voice servers: each says so in its own row, which goes with it. */
import type { HubProcessId } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import { toJson } from '../database/json-rows.js';

/** What came of the last attempt to open a conversation; `UNTRIED`: there was none. */
export type VoiceServerState = 'UNTRIED' | 'WELL' | 'UNWELL';

/** What the last error was about; NOT_BOUND is about one device and leaves the state as it was. */
export type VoiceServerErrorCode = 'UNREACHABLE' | 'NOT_BOUND' | 'AUTH_FAILED' | 'ADDRESS_FORBIDDEN';

export interface VoiceServerRow {
  readonly url: string;
  readonly state: VoiceServerState;
  /** Since when it is so, ms since the Unix epoch. */
  readonly since: number;
  /** Conversations that it has now. */
  readonly conversations: number;
  readonly lastError: string | undefined;
  readonly lastErrorCode: VoiceServerErrorCode | undefined;
}

export interface VoiceServerStore {
  /** What a process knows of voice servers, in place of all that it said before. */
  report(processId: HubProcessId, servers: readonly VoiceServerRow[]): Promise<void>;
  /** Over all living processes, by URL; of several that know one, whoever saw it turn last is believed. */
  list(): Promise<readonly VoiceServerRow[]>;
}

/** Servers that are listed; a gateway remembers as many. */
const SERVERS_MAX = 1_000;

const REPORT = { name: 'report-voice-servers', text: `UPDATE hub_process SET voice_servers = $2::jsonb WHERE id = $1` };
const LIST = {
  name: 'voice-servers',
  text: `
    SELECT s.url,
           (array_agg(s.state ORDER BY s.state = 'UNTRIED', s.since DESC))[1] AS state,
           (array_agg(s.since ORDER BY s.state = 'UNTRIED', s.since DESC))[1]::float8 AS since,
           sum(s.conversations)::int AS conversations,
           (array_agg(s."lastError" ORDER BY s.since DESC) FILTER (WHERE s."lastError" IS NOT NULL))[1] AS "lastError",
           (array_agg(s."lastErrorCode" ORDER BY s.since DESC) FILTER (WHERE s."lastError" IS NOT NULL))[1] AS "lastErrorCode"
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

export class PgVoiceServerStore implements VoiceServerStore {
  constructor(private readonly database: Queryable) {}

  async report(processId: HubProcessId, servers: readonly VoiceServerRow[]): Promise<void> {
    await this.database.query(REPORT, [processId, toJson(servers)]);
  }

  async list(): Promise<readonly VoiceServerRow[]> {
    const found = await this.database.query<Found>(LIST, [SERVERS_MAX]);
    return found.map(({ lastError, lastErrorCode, ...row }) => ({
      ...row,
      lastError: lastError ?? undefined,
      lastErrorCode: lastErrorCode ?? undefined,
    }));
  }
}
