/**
 * Statements in `.sql` files. Each file has one declaration of its parameters and columns.
 * TypeScript takes its types from the declaration, and sql-file.spec.ts compares it with
 * PostgreSQL. A file may have `{{name}}` for text that statements share.
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
  jsonb: <Value>(): SqlType<Value> => ({ name: 'jsonb' }),
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

interface Declaration<Parameters extends Types, Row extends Types> {
  /** Prepared under this name, once per connection. */
  readonly name?: string;
  /** In the order of $1, $2, … */
  readonly parameters: Parameters;
  /** In the order of the columns. */
  readonly row: Row;
}

/** Text that statements share, by name: it replaces `{{name}}` in the file. */
type SharedParts = Readonly<Record<string, string>>;

/** Binds the parameters of a condition behind those of the file, and returns its SQL. */
type Condition = (parameters: unknown[]) => string;

/** The row that a statement returns. */
export type RowOf<File extends { readonly declaration: { readonly row: Types } }> = Values<File['declaration']['row']>;

export class SqlFile<Parameters extends Types, Row extends Types> {
  /** All statements of the modules loaded so far. */
  static readonly loaded: SqlFile<Types, Types>[] = [];

  readonly statement: Statement;
  readonly #template: string;

  constructor(
    readonly url: URL,
    readonly declaration: Declaration<Parameters, Row>,
    parts: SharedParts = {},
  ) {
    const { name } = declaration;
    this.#template = withParts(readFileSync(url, 'utf8'), parts);
    this.statement = {
      ...(name === undefined ? {} : { name }),
      text: withParts(this.#template, { condition: 'TRUE' }),
    };
    SqlFile.loaded.push(this as unknown as SqlFile<Types, Types>);
  }

  run(db: Queryable, values: Values<Parameters>): Promise<readonly Values<Row>[]> {
    return db.query<Values<Row>>(this.statement, this.#ordered(values));
  }

  /** Runs the statement with this condition as `{{condition}}`, where `run` has TRUE. */
  runWhere(db: Queryable, values: Values<Parameters>, condition: Condition): Promise<readonly Values<Row>[]> {
    const parameters = this.#ordered(values);
    const text = withParts(this.#template, { condition: condition(parameters) });
    return db.query<Values<Row>>({ text }, parameters);
  }

  #ordered(values: Values<Parameters>): unknown[] {
    return Object.keys(this.declaration.parameters).map((name) => values[name]);
  }
}

function withParts(text: string, parts: SharedParts): string {
  return Object.entries(parts).reduce((result, [name, part]) => result.replaceAll(`{{${name}}}`, () => part), text);
}
