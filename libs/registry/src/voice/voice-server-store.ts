/**
 * The state of voice servers as the processes of the hub see it. Each process stores its view in
 * its own row.
 */
import type { HubProcessId } from '@flotilla/mcp';
import type { Queryable } from '../database/database.js';
import { toJson } from '../database/json-rows.js';
import { sql, SqlFile } from '../database/sql-file.js';

/** The result of the latest attempt to open a conversation; `UNTRIED` before the first. */
type VoiceServerState = 'UNTRIED' | 'WELL' | 'UNWELL';

/** The kind of the latest error. NOT_BOUND concerns one device and does not change the state. */
type VoiceServerErrorCode = 'UNREACHABLE' | 'NOT_BOUND' | 'AUTH_FAILED' | 'ADDRESS_FORBIDDEN';

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

const { bigint, float, integer, orNull, text } = sql;

const REPORT = {
  name: 'report-voice-servers',
  text: 'UPDATE hub_process SET voice_servers = $2::jsonb WHERE id = $1',
};
const LIST = new SqlFile(new URL('./list-voice-servers.sql', import.meta.url), {
  name: 'voice-servers',
  parameters: { limit: bigint },
  row: {
    url: text(),
    state: text<VoiceServerState>(),
    since: float,
    conversations: integer,
    lastError: orNull(text()),
    lastErrorCode: orNull(text<VoiceServerErrorCode>()),
  },
});

export class VoiceServerStore {
  constructor(private readonly database: Queryable) {}

  /** Replaces everything that the process reported before. */
  async report(processId: HubProcessId, servers: readonly VoiceServerRow[]): Promise<void> {
    await this.database.query(REPORT, [processId, toJson(servers)]);
  }

  /** Over all living processes, by URL. If several report a server, the latest change counts. */
  async list(): Promise<readonly VoiceServerRow[]> {
    const found = await LIST.run(this.database, { limit: SERVERS_MAX });
    return found.map(({ lastError, lastErrorCode, ...row }) => ({
      ...row,
      lastError: lastError ?? undefined,
      lastErrorCode: lastErrorCode ?? undefined,
    }));
  }
}
