/**
 * The SQL of sessions, with the types of its parameters and columns. Each statement writes many
 * devices and locks rows of `device` in the order of ids, so two cannot deadlock there. They are
 * prepared once, perhaps over empty tables, and keep that plan: so tables are read by key
 * regardless of their size, through lateral subqueries that PostgreSQL cannot merge (OFFSET 0, FOR
 * UPDATE), and through joins on more columns than needed, which promise few rows.
 */
import type { HubProcessId, ToolSetHash } from '@flotilla/mcp';
import { sql, SqlFile } from '../database/sql-file.js';

const { boolean, integer, json, jsonb, orNull, text, uuid } = sql;
const former = { tool_set_hash: orNull(text<ToolSetHash>()), firmware_version: orNull(text()) };

export const CONNECTING = new SqlFile(new URL('./connect-sessions.sql', import.meta.url), {
  name: 'device-connecting',
  parameters: { rows: json, holder: orNull(uuid<HubProcessId>()) },
  /** `is_listed` is false for a removed device. */
  row: { id: text(), epoch: integer, is_listed: boolean, ...former },
});

export const READY = new SqlFile(new URL('./ready-sessions.sql', import.meta.url), {
  name: 'device-ready',
  parameters: { rows: json },
  row: { id: text(), ...former },
});

export const CLOSED = new SqlFile(new URL('./close-sessions.sql', import.meta.url), {
  name: 'device-closed',
  parameters: { rows: json },
  row: { id: text() },
});

export const REPORTED = new SqlFile(new URL('./report-states.sql', import.meta.url), {
  name: 'device-reported',
  parameters: { rows: json },
  row: { id: text(), state: orNull(jsonb<Readonly<Record<string, unknown>>>()) },
});
