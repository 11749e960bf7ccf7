/** Makes the hub as the file says, one thing after the other, and records what was written. */
import { appendFileSync, closeSync, fchmodSync, fstatSync, openSync } from 'node:fs';
import { expectAccepted, FlotillaError, type FlotillaClient } from '@flotilla/client';
import { messageOf } from '../error-message.js';
import { say } from '../console/output.js';
import { UsageError } from '../exit-codes.js';
import { RecordAppliedConfigurationDocument } from '../generated/operations.js';
import { readReferences } from './hub-state.js';
import type { Fields, Kind, KindContext, Live } from './kind.js';
import { isSameThing, type PlannedChange } from './plan.js';
import { filterWithIds } from './filter-references.js';
import { variablesIn, withSecrets } from './values.js';

interface ApplyOptions {
  readonly client: FlotillaClient;
  /** The folder of the file. */
  readonly folder: string;
  /** Where secrets are written that the hub shows once. */
  readonly secretsFile: string | undefined;
  /** Receives a line for each thing. */
  readonly onDone: (change: PlannedChange) => Promise<void> | void;
}

/** Throws UsageError before anything is changed, if something is missing. */
async function requireInputs(
  changes: readonly PlannedChange[],
  { client, folder, secretsFile }: ApplyOptions,
): Promise<void> {
  const written = changes.filter(({ action }) => ['create', 'update', 'replace'].includes(action));
  const missing = [...new Set(written.flatMap(({ wanted }) => variablesIn(wanted)))].filter(
    // Some CI systems set a variable to an empty text if its secret does not exist.
    (name) => (process.env[name] ?? '') === '',
  );
  if (missing.length > 0)
    throw new UsageError(`Set the environment variables of the file. Missing or empty: ${missing.join(', ')}.`);
  const secret = written.find(({ kind, action }) => kind.hasSecret === true && action !== 'update');
  if (secret !== undefined && secretsFile === undefined)
    throw new UsageError(
      `${secret.kind.kind} "${secret.name}" gets a secret that the hub shows once. ` +
        'Name a file for it: --secrets-to FILE',
    );
  for (const { action, kind, name, wanted } of written)
    if (action !== 'update' && wanted !== undefined) await kind.requireInputs?.(name, wanted, { client, folder });
  if (secret !== undefined && secretsFile !== undefined) requireWritable(secretsFile);
}

/** A secret that cannot be written is lost, because the hub shows it once. */
function requireWritable(file: string): void {
  try {
    const opened = openSync(file, 'a', 0o600);
    hideFromOthers(opened, file);
    closeSync(opened);
  } catch (error) {
    const reason = messageOf(error);
    throw new UsageError(
      `${file}, the file for new secrets, cannot be written: ${reason}. Nothing was changed. Check its rights.`,
    );
  }
}

/** Gives a file that was there before the rights of a new one, where this user may do that. */
function hideFromOthers(opened: number, file: string): void {
  const stats = fstatSync(opened);
  if (!stats.isFile() || (stats.mode & 0o077) === 0) return;
  try {
    fchmodSync(opened, 0o600);
  } catch (error) {
    say(`Others may be able to read ${file}, the file for new secrets: ${messageOf(error)}. Check its rights.`);
  }
}

/** Deletes last and in reverse, because things name earlier kinds. */
export async function applyAll(changes: readonly PlannedChange[], options: ApplyOptions): Promise<void> {
  await requireInputs(changes, options);
  const ends = changes.filter(({ action }) => action === 'delete' || action === 'forget');
  const writes = changes.filter((change) => !ends.includes(change));
  for (const change of [...writes, ...ends.reverse()]) await applyOne(change, options);
}

async function applyOne(change: PlannedChange, options: ApplyOptions): Promise<void> {
  const { client, folder, onDone } = options;
  const context: KindContext = { client, folder, references: await readReferences(client) };
  try {
    await write(change, context, options);
    await record(change, client);
  } catch (error) {
    if (!(error instanceof FlotillaError)) throw error;
    throw new FlotillaError(error.code, `${change.kind.kind} "${change.name}": ${error.message}`, { cause: error });
  }
  await onDone(change);
}

async function write(change: PlannedChange, context: KindContext, options: ApplyOptions): Promise<void> {
  const { kind, name, action, wanted } = change;
  if (action === 'forget') return;
  const live = change.live && (await asPlanned(kind, change.live, context));
  if (action === 'adopt') return;
  if (action === 'delete' && live !== undefined) return kind.remove(live, context);
  if (wanted === undefined) return;
  if (action === 'update' && live !== undefined && kind.update !== undefined)
    return kind.update(
      live,
      sent({ ...(kind.kept?.(live.fields, wanted) ?? live.fields), ...wanted }, context),
      context,
    );
  if (action === 'create') await requireMissing(kind, name, context);
  // Without the fields that the file does not have, a key would see more devices or never expire.
  const kept = action === 'replace' ? live?.fields : undefined;
  const secret = await kind.create(name, sent({ ...kept, ...wanted }, context), context);
  if (secret !== undefined && secret !== null) keep({ kind: kind.kind, name, secret }, options.secretsFile);
  // The new one works before the former one ends.
  if (action === 'replace' && live !== undefined) await kind.remove(live, context);
}

/** What the plan has read, if no person changed it since. */
async function asPlanned(kind: Kind, planned: Live, context: KindContext): Promise<Live> {
  const now = (await kind.read(context)).find(({ id }) => id === planned.id);
  // The first channel, which this apply may have created, enables what came with the hub.
  if (planned.isPristine === true && now?.isPristine === true) return now;
  if (now?.name === planned.name && isSameThing(kind, planned.fields, now.fields)) return planned;
  throw conflict('changed');
}

/** Some kinds allow a second thing of the same name, and the file means one. */
async function requireMissing(kind: Kind, name: string, context: KindContext): Promise<void> {
  if ((await kind.read(context)).some((live) => live.name === name)) throw conflict('created');
}

function conflict(change: 'changed' | 'created'): FlotillaError {
  const message = `It was ${change} after the plan. Run \`flotilla plan\` again, and apply its result.`;
  return new FlotillaError('CONFLICT', message);
}

/** As the API takes it. Kinds translate what is inside of their other fields. */
function sent(fields: Fields, { references }: KindContext): Fields {
  const { filter, ...others } = withSecrets(fields, process.env);
  return filter === undefined ? others : { ...others, filter: filterWithIds(filter, references) };
}

interface NewSecret {
  readonly kind: string;
  readonly name: string;
  readonly secret: string;
}

/** A disk may be full although the file could be opened. */
function keep(line: NewSecret, file: string | undefined): void {
  if (file === undefined) return;
  try {
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(
      `${line.kind} "${line.name}" is new, and its secret is lost: ${file} cannot be written: ${messageOf(error)}. ` +
        'Delete or revoke the new one on the hub, and apply again.',
    );
  }
}

async function record({ kind, name, wanted, applied }: PlannedChange, client: FlotillaClient): Promise<void> {
  const input = [{ kind: kind.kind, name, fields: wanted ?? null, revision: applied?.revision ?? null }];
  expectAccepted((await client.request(RecordAppliedConfigurationDocument, { input })).recordAppliedConfiguration);
}
