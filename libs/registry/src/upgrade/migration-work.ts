/**
 * Reads from the SQL of a migration which existing tables it works on, and estimates how long that
 * takes. Pure. It knows the statements that migrations of the hub use.
 */

/** READS: each row is read, for an index or a check. WRITES: each row is written again. */
type TableWork = 'READS' | 'WRITES';

export interface TableSize {
  readonly rows: number;
  readonly bytes: number;
}

interface WorkedTable extends TableSize {
  readonly table: string;
  /** Each pass over the table, in the order of the statements. */
  readonly work: readonly TableWork[];
}

export interface WorkEstimate {
  /** On fast local disks, and on slow ones with other load, s. */
  readonly seconds: readonly [fast: number, slow: number];
  readonly tables: readonly WorkedTable[];
}

/** Bytes per second; the two figures are a local SSD, and a shared network disk. */
const READ_BYTES: readonly [number, number] = [200e6, 20e6];
/** Rows and their indexes are written, so bytes count less than rows. */
const WRITE_ROWS: readonly [number, number] = [50e3, 5e3];
/** A statement without rows to work on, s: a lock, and entries of the catalogue. */
const STATEMENT: readonly [number, number] = [0.005, 0.05];

const NAME = String.raw`(?:"?public"?\.)?"?(\w+)"?`;
const CREATE_TABLE = new RegExp(String.raw`^CREATE TABLE (?:IF NOT EXISTS )?${NAME}`, 'i');
const CREATE_INDEX = new RegExp(String.raw`^CREATE (?:UNIQUE )?INDEX [\s\S]*? ON (?:ONLY )?${NAME}`, 'i');
const ALTER_TABLE = new RegExp(String.raw`^ALTER TABLE (?:ONLY )?(?:IF EXISTS )?${NAME}([\s\S]*)$`, 'i');
const UPDATE = new RegExp(String.raw`\b(?:UPDATE|DELETE FROM) (?:ONLY )?${NAME}`, 'gi');
const COPY_FROM = new RegExp(String.raw`^INSERT INTO [\s\S]*?\bFROM (?:ONLY )?${NAME}`, 'i');

const REWRITES = /\bGENERATED ALWAYS AS\b|\bTYPE\b|\bDEFAULT (?:gen_random_uuid|random|clock_timestamp|nextval)\b/i;
const SCANS = /\bSET NOT NULL\b|\bADD (?:CONSTRAINT|CHECK|FOREIGN KEY|PRIMARY KEY|UNIQUE)\b/i;

/** `sizes`: the tables of the database. Those that the migrations make are empty. */
export function estimateWork(scripts: readonly string[], sizes: ReadonlyMap<string, TableSize>): WorkEstimate {
  const passes = new Map<string, TableWork[]>();
  const statements = scripts.flatMap(statementsOf);
  const made = new Set<string>();
  for (const statement of statements) {
    const created = CREATE_TABLE.exec(statement)?.[1];
    if (created !== undefined) made.add(created);
    for (const { table, work } of worksOf(statement))
      if (sizes.has(table) && !made.has(table)) passes.set(table, [...(passes.get(table) ?? []), work]);
  }
  const tables = [...passes].map(([table, work]) => ({ table, work, ...(sizes.get(table) ?? { rows: 0, bytes: 0 }) }));
  const total = (speed: 0 | 1) =>
    tables.reduce((sum, each) => sum + secondsOf(each, speed), statements.length * STATEMENT[speed]);
  return { seconds: [total(0), total(1)], tables };
}

function secondsOf({ rows, bytes, work }: WorkedTable, speed: 0 | 1): number {
  const read = bytes / READ_BYTES[speed];
  return work.reduce((sum, pass) => sum + (pass === 'READS' ? read : read + rows / WRITE_ROWS[speed]), 0);
}

function worksOf(statement: string): readonly { readonly table: string; readonly work: TableWork }[] {
  const indexed = CREATE_INDEX.exec(statement)?.[1];
  if (indexed !== undefined) return [{ table: indexed, work: 'READS' }];
  const [, altered, change = ''] = ALTER_TABLE.exec(statement) ?? [];
  if (altered !== undefined) {
    const work = REWRITES.test(change) ? 'WRITES' : SCANS.test(change) ? 'READS' : undefined;
    return work === undefined ? [] : [{ table: altered, work }];
  }
  const copied = COPY_FROM.exec(statement)?.[1];
  if (copied !== undefined) return [{ table: copied, work: 'WRITES' }];
  if (/^CREATE /i.test(statement)) return [];
  return [...statement.matchAll(UPDATE)].map(([, table = '']) => ({ table, work: 'WRITES' as const }));
}

/** Statements without comments. Bodies of functions have semicolons between `$$`. */
function statementsOf(script: string): readonly string[] {
  const parts = script.replace(/--.*$/gm, '').match(/(?:\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|[^;])+/g) ?? [];
  return parts.map((part) => part.trim().replace(/\s+/g, ' ')).filter((part) => part !== '');
}
