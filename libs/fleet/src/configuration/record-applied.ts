/** Records what `flotilla apply` wrote, so that the next plan knows what people changed since. */
import { isJsonObject } from '@flotilla/mcp';
import type { AppliedConfigurationRow, AppliedRecord, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

interface RecordAppliedDeps {
  readonly registry: Pick<Registry, 'appliedConfigurations'>;
  readonly clock: Clock;
}

/** Entries of one request. */
const ENTRIES_MAX = 200;
/** Entries of one hub: more than any limit of its kinds allows. */
const ROWS_MAX = 20_000;
const KIND_CHARACTERS_MAX = 100;
const NAME_CHARACTERS_MAX = 500;
/** Of the fields of one entry, as JSON. */
const FIELDS_BYTES_MAX = 64 * 1024;

/** An entry as the caller sends it. */
export type AppliedInput = Omit<AppliedRecord, 'fields'> & { readonly fields: unknown };

export interface RecordedConfiguration {
  readonly rows: readonly AppliedConfigurationRow[];
  readonly refusal?: Refusal;
}

export async function recordApplied(
  { registry, clock }: RecordAppliedDeps,
  entries: readonly AppliedInput[],
  actor: Actor,
): Promise<RecordedConfiguration> {
  const records: AppliedRecord[] = [];
  const seen = new Set<string>();
  if (entries.length === 0 || entries.length > ENTRIES_MAX)
    return refused(refuse('LIMIT_EXCEEDED', ['input'], `Send 1 to ${ENTRIES_MAX} entries.`));
  for (const [index, entry] of entries.entries()) {
    const read = readEntry(entry, ['input', String(index)]);
    if ('code' in read) return refused(read);
    const key = JSON.stringify([read.kind, read.name]);
    if (seen.has(key)) return refused(refuse('INVALID', ['input', String(index)], 'Name each thing once.'));
    seen.add(key);
    records.push(read);
  }
  const change = { rowsMax: ROWS_MAX, at: clock.now(), by: sourceOf(actor) };
  const answer = await registry.appliedConfigurations.record(records, change);
  switch (answer.kind) {
    case 'recorded':
      return { rows: answer.rows };
    case 'CONFLICT':
      return refused(
        refuse('CONFLICT', ['input', String(answer.index)], 'Another apply has changed this entry. Plan again.'),
      );
    case 'FULL':
      return refused(refuse('LIMIT_EXCEEDED', ['input'], `There are ${ROWS_MAX} entries. Remove some.`));
  }
}

function readEntry({ kind, name, fields, revision }: AppliedInput, path: readonly string[]): AppliedRecord | Refusal {
  if (kind.length === 0 || kind.length > KIND_CHARACTERS_MAX)
    return refuse('INVALID', [...path, 'kind'], `A kind has 1 to ${KIND_CHARACTERS_MAX} characters.`);
  if (name.length === 0 || name.length > NAME_CHARACTERS_MAX)
    return refuse('INVALID', [...path, 'name'], `A name has 1 to ${NAME_CHARACTERS_MAX} characters.`);
  if (fields === undefined || fields === null) return { kind, name, revision, fields: undefined };
  if (!isJsonObject(fields)) return refuse('INVALID', [...path, 'fields'], 'The fields are an object, or null.');
  if (Buffer.byteLength(JSON.stringify(fields)) > FIELDS_BYTES_MAX)
    return refuse('LIMIT_EXCEEDED', [...path, 'fields'], `The fields have at most ${FIELDS_BYTES_MAX} bytes as JSON.`);
  return { kind, name, revision, fields };
}

const refused = (refusal: Refusal): RecordedConfiguration => ({ rows: [], refusal });
