/**
 * Statements in `.sql` files. Each file has one declaration of its parameters and columns.
 * TypeScript takes its types from the declaration, and sql-file.spec.ts compares it with
 * PostgreSQL.
 */
import { readFileSync } from 'node:fs';
import type { Queryable, Statement } from './database.js';

declare const valueOf: unique symbol;

/** A type of PostgreSQL, with the type of its values in TypeScript. */
export interface SqlType<Value> {
  readonly name: string;
  readonly [valueOf]?: Value;
}

/** The types that statements use, by the names that PostgreSQL reports. */
export const sql = {
  boolean: { name: 'boolean' } as SqlType<boolean>,
  integer: { name: 'integer' } as SqlType<number>,
  /** As a parameter only: pg returns a text for it. */
  bigint: { name: 'bigint' } as SqlType<number>,
  float: { name: 'double precision' } as SqlType<number>,
  timestamp: { name: 'timestamp with time zone' } as SqlType<Date>,
  /** Rows as JSON text, see json-rows.ts. */
  json: { name: 'json' } as SqlType<string>,
  text: <Text extends string = string>(): SqlType<Text> => ({ name: 'text' }),
  uuid: <Id extends string = string>(): SqlType<Id> => ({ name: 'uuid' }),
  /** An enum of the schema, or another type by its name. */
  named: <Value>(name: string): SqlType<Value> => ({ name }),
  array: <Value>({ name }: SqlType<Value>): SqlType<readonly Value[]> => ({ name: `${name}[]` }),
  orNull: <Value>({ name }: SqlType<Value>): SqlType<Value | null> => ({ name }),
};

type Types = Readonly<Record<string, SqlType<unknown>>>;
type Values<Declared extends Types> = {
  readonly [Name in keyof Declared]: Declared[Name] extends SqlType<infer Value> ? Value : never;
};

export interface Declaration<Parameters extends Types, Row extends Types> {
  /** Prepared under this name, once per connection. */
  readonly name?: string;
  /** In the order of $1, $2, … */
  readonly parameters: Parameters;
  /** In the order of the columns. */
  readonly row: Row;
}

/** The row that a statement returns. */
export type RowOf<File extends { readonly declaration: { readonly row: Types } }> = Values<File['declaration']['row']>;

export class SqlFile<Parameters extends Types, Row extends Types> {
  /** All statements of the modules loaded so far. */
  static readonly loaded: SqlFile<Types, Types>[] = [];

  readonly statement: Statement;

  constructor(
    readonly url: URL,
    readonly declaration: Declaration<Parameters, Row>,
  ) {
    const { name } = declaration;
    this.statement = { ...(name === undefined ? {} : { name }), text: readFileSync(url, 'utf8') };
    SqlFile.loaded.push(this as unknown as SqlFile<Types, Types>);
  }

  run(db: Queryable, values: Values<Parameters>): Promise<readonly Values<Row>[]> {
    const ordered = Object.keys(this.declaration.parameters).map((name) => values[name]);
    return db.query<Values<Row>>(this.statement, ordered);
  }
}
