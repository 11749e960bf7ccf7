/** `flotilla export`, `plan` and `apply`: the configuration of a hub as files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { FlotillaClient } from '@flotilla/client';
import { messageOf } from '../../error-message.js';
import { applyAll } from '../../configuration/apply.js';
import { documentText, folderOf, readDocuments, readInput, schemaOf } from '../../configuration/document.js';
import { readLive } from '../../configuration/hub-state.js';
import type { Fields, Live } from '../../configuration/kind.js';
import { kinds } from '../../configuration/kinds.js';
import { planAll } from '../../configuration/plan-all.js';
import { planText } from '../../configuration/plan-text.js';
import type { PlannedChange } from '../../configuration/plan.js';
import { withReferences } from '../../configuration/values.js';
import { withClient } from '../../connection.js';
import { confirm, yesOption } from '../../console/confirm.js';
import { formatOf, type OutputOptions } from '../../console/output-format.js';
import { goOnWithoutReader, printRows, say, write } from '../../console/output.js';
import { printable } from '../../console/printable.js';
import { exitCodes, UsageError, type ExitCode } from '../../exit-codes.js';
import { refuseDash, standardInput } from '../../json-input.js';
import { textOption } from '../../options/shared-options.js';
import { leaf } from '../command.js';

const kindNames = kinds.map(({ kind }) => kind);

export const exportCommand = leaf({
  usage: 'export [file]',
  summary: 'Write the configuration of the hub as YAML: groups, rules, states, channels, keys and more',
  examples: ['export > flotilla.yaml', 'export --kind DeviceGroup --kind ToolPolicy', 'export --schema'],
  notes: 'Secrets are not in it: it refers to environment variables, which `flotilla apply` reads.',
  options: (args) =>
    args
      .positional('file', { type: 'string', describe: 'File to write; standard output without it, and with -' })
      .option('kind', { choices: kindNames, array: true, nargs: 1, describe: 'Only this kind; repeatable' })
      .option('schema', { type: 'boolean', describe: 'Write the JSON Schema of the files instead' }),
  run: async (args) => {
    if (args.schema === true) return put(args.file, `${JSON.stringify(schemaOf(kinds), undefined, 2)}\n`);
    const chosen = kinds.filter(({ kind }) => args.kind === undefined || args.kind.includes(kind));
    const text = await withClient(args, (client) => exported(client, chosen));
    await put(args.file, text);
  },
});

async function exported(client: FlotillaClient, chosen: typeof kinds): Promise<string> {
  const live = await readLive(chosen, client);
  const document = new Map(
    [...live].map(([kind, things]) => {
      const sorted = [...things.values()]
        .filter((thing) => !isLeftOut(kind, thing))
        .sort((one, other) => (one.name < other.name ? -1 : 1));
      return [kind, new Map(sorted.map(({ name, fields }): [string, Fields] => [name, fields]))];
    }),
  );
  return documentText(withReferences(document), undefined);
}

/** From a file it would be created for all devices of its filter. */
function isLeftOut(kind: string, { name, isLimited = false }: Live): boolean {
  if (isLimited) say(`${kind} "${printable(name)}" is left out: a key that is limited to some devices saved it.`);
  return isLimited;
}

async function put(file: string | undefined, text: string): Promise<void> {
  if (file === undefined || file === standardInput) return write(text);
  try {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}. Check its folder and rights.`);
  }
  say(`Wrote ${file}.`);
}

/** What an apply only notes; the hub is as in the files already. */
const isBookkeeping: ReadonlySet<PlannedChange['action']> = new Set(['adopt', 'forget']);

const filesOption = {
  type: 'string',
  array: true,
  demandOption: true,
  describe: 'Configuration files; - for standard input',
} as const;
const forceOption = { type: 'boolean', describe: 'Overwrite what people changed since the last apply' } as const;

export const planCommand = leaf({
  usage: 'plan <files..>',
  summary: 'Show what `flotilla apply` would change, as a diff; it changes nothing',
  examples: ['plan flotilla.yaml', 'plan flotilla.yaml --fail-on-changes'],
  notes: 'Ends with 2 if people changed fields that the files own, so that an apply needs --force.',
  options: (args) =>
    args.positional('files', filesOption).option('fail-on-changes', {
      type: 'boolean',
      describe: 'End with 2 if the hub is not as in the files, for checks',
    }),
  run: async (args): Promise<ExitCode> => {
    const document = readDocuments(args.files, kinds, await readInput(args.files));
    const changes = await withClient(args, (client) => planAll(document, kinds, client));
    await show(changes, args);
    const hasConflict = changes.some(({ conflicts }) => conflicts.length > 0);
    const isDrift = args.failOnChanges === true && changes.some(({ action }) => !isBookkeeping.has(action));
    return hasConflict || isDrift ? exitCodes.refused : exitCodes.done;
  },
});

export const applyCommand = leaf({
  usage: 'apply <files..>',
  summary: 'Make the hub as the files say, and remember which fields they own',
  examples: ['apply flotilla.yaml --yes', 'apply flotilla.yaml --yes --force --secrets-to secrets.jsonl'],
  notes:
    'Deletes what earlier files had and these do not. Fields and things that no file ever had stay. Without --force ' +
    'it changes nothing if people changed a field that the files own.',
  options: (args) =>
    args
      .positional('files', filesOption)
      .option('force', forceOption)
      .option('secrets-to', textOption('File for new secrets of keys, links and webhooks, one line of JSON each'))
      .options(yesOption),
  run: async (args): Promise<ExitCode> => {
    goOnWithoutReader();
    refuseDash('--secrets-to', args.secretsTo);
    const document = readDocuments(args.files, kinds, await readInput(args.files));
    return withClient(args, async (client) => {
      const changes = await planAll(document, kinds, client);
      await show(changes, args);
      if (changes.length === 0) return exitCodes.done;
      if (args.force !== true && changes.some(({ conflicts }) => conflicts.length > 0)) {
        say(
          'Nothing was changed: people changed fields of the files. Write their values into the files, or use --force.',
        );
        return exitCodes.refused;
      }
      if (!(await confirm(`Changes: ${changes.length}.`, args))) return exitCodes.refused;
      const folder = folderOf(args.files[0] ?? '.');
      const onDone = ({ action, kind, name }: PlannedChange) => say(`${action} ${kind.kind} ${printable(name)}: done`);
      await applyAll(changes, { client, folder, secretsFile: args.secretsTo, onDone });
      return exitCodes.done;
    });
  },
});

async function show(changes: readonly PlannedChange[], options: OutputOptions): Promise<void> {
  if (formatOf(options) === 'table' && options.columns === undefined)
    return write(`${planText(changes).split('\n').map(printable).join('\n')}\n`);
  const rows = changes.map(({ kind, name, action, changed, conflicts }) => ({
    kind: kind.kind,
    name,
    action,
    changed,
    conflicts,
  }));
  await printRows(rows, ['kind', 'name', 'action', 'changed', 'conflicts'], options);
}
