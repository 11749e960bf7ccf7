/**
 * Lists as files, as lines of JSON or as CSV. Pages are read as fast as the client receives them,
 * and no further when it disconnects.
 */
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import type { FastifyReply } from 'fastify';
import type { ToolResult } from '@flotilla/mcp';
import type { Page, PageRequest } from '@flotilla/registry';

type FileEnding = 'jsonl' | 'csv';
export const fileEndings: readonly FileEnding[] = ['jsonl', 'csv'];

interface RowFile<Row> {
  /** Without its ending. */
  readonly name: string;
  /** What a line of JSON has. */
  readonly shown: (row: Row) => Readonly<Record<string, unknown>>;
  /** The columns of CSV, in this order. */
  readonly columns: readonly string[];
  readonly cells: (row: Row) => Readonly<Record<string, unknown>>;
  readonly page: (request: PageRequest) => Promise<Page<Row> | undefined>;
}

/** Rows of one page: with the largest results 8 MiB, the most that an export holds in memory. */
const pageRows = 1_000;

/** Spreadsheets run cells that begin like formulas, and their text comes from devices. */
const csv = { escape_formulas: true, record_delimiter: '\r\n', quote_record_delimiter: true } as const;

const contentTypes: Readonly<Record<FileEnding, string>> = {
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

export function sendRows<Row>(reply: FastifyReply, file: RowFile<Row>, ending: FileEnding): FastifyReply {
  const headers = {
    'content-type': contentTypes[ending],
    'content-disposition': `attachment; filename="${file.name}.${ending}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return sendLines(reply.headers(headers), linesOf(file, ending));
}

/** Reads nothing for HEAD: the server would read the whole body, and at full speed, to drop it. */
export function sendLines(reply: FastifyReply, lines: AsyncIterable<string>): FastifyReply {
  return reply.send(Readable.from(reply.request.method === 'HEAD' ? [] : lines, { objectMode: false }));
}

async function* linesOf<Row>(
  { cells, columns, page, shown }: RowFile<Row>,
  ending: FileEnding,
): AsyncGenerator<string> {
  if (ending === 'csv') yield stringify([columns], { record_delimiter: csv.record_delimiter });
  const write = (rows: readonly Row[]): string =>
    ending === 'csv'
      ? stringify(rows.map(cells), { ...csv, columns: [...columns] })
      : rows.map((row) => `${JSON.stringify(shown(row))}\n`).join('');
  let after: string | undefined;
  for (;;) {
    const part = await page({ first: pageRows, ...(after === undefined ? {} : { after }) });
    if (part !== undefined && part.rows.length > 0) yield write(part.rows);
    if (part?.hasNextPage !== true) return;
    after = part.cursors.at(-1);
  }
}

/** The text of the result; other content is named by its type. */
export function textOfResult({ content }: ToolResult): string {
  return content.map((item) => (typeof item['text'] === 'string' ? item['text'] : `[${item.type}]`)).join('\n');
}
