/**
 * Reads what an import needs from a dump of xiaozhi-esp32-server. Tables with provider keys and
 * parameters are skipped, and of users only id, name and status are kept.
 */
import { columnsOf, rowsOf, type DumpValue } from './read-rows.js';
import { DumpError, statementsOf, tableOf } from './sql-statements.js';

/** The tables that are read, and the columns that are kept of each. */
const kept = {
  ai_device: ['id', 'mac_address', 'user_id', 'agent_id', 'alias', 'board', 'app_version', 'last_connected_at'],
  ai_agent: ['id', 'user_id', 'agent_name'],
  sys_user: ['id', 'username', 'status'],
} as const;

type Table = keyof typeof kept;
type Row<Name extends Table> = Readonly<Record<(typeof kept)[Name][number], DumpValue>>;

export type Dump = { readonly [Name in Table]: readonly Row<Name>[] };

const tables = Object.keys(kept) as Table[];

export async function readDump(chunks: AsyncIterable<string>): Promise<Dump> {
  const dump: Record<Table, Readonly<Record<string, DumpValue>>[]> = { ai_device: [], ai_agent: [], sys_user: [] };
  const columns = new Map<string, readonly string[]>();
  for await (const statement of statementsOf(chunks, new Set(tables))) {
    const name = tableOf(statement)?.table;
    const table = tables.find((one) => one === name);
    if (table === undefined) continue;
    if (/^create/i.test(statement)) columns.set(table, columnsOf(statement));
    else
      for (const row of rowsOf(statement, columns.get(table)))
        dump[table].push(Object.fromEntries(kept[table].map((column) => [column, row[column] ?? null])));
  }
  if (dump.ai_device.length === 0 && !columns.has('ai_device'))
    throw new DumpError(
      'The dump has no table ai_device. Dump at least ai_device, ai_agent and sys_user of xiaozhi_esp32_server.',
    );
  return dump as Dump;
}
