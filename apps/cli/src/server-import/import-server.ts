/**
 * `flotilla import xiaozhi-server`: registers the boards of a dump with names and tags, and lists
 * them as boards that may move. It moves none.
 */
import { createReadStream } from 'node:fs';
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import { goOnWithoutReader, say, write } from '../console/output.js';
import { jsonText, printable } from '../console/printable.js';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.js';
import {
  AddMovingBoardsDocument,
  PreviewRegistrationDocument,
  RegisterDevicesDocument,
} from '../generated/operations.js';
import { given } from '../options/shared-options.js';
import { boardsOfDump, type BoardProblem, type ImportedBoard } from './boards-of-dump.js';
import { readApi } from './read-api.js';
import { readDump, type Dump } from './read-dump.js';
import { DumpError } from './sql-statements.js';
import { setVoiceServer, voiceGroup, voiceUrlOf } from './voice-group.js';
import { isTimeZone } from './zoned-time.js';

interface ServerImportArguments {
  /** A dump; undefined with `from`. */
  readonly file?: string | undefined;
  /** The API of the former server, with its token in the environment variable `tokenEnv`. */
  readonly from?: string | undefined;
  readonly tokenEnv?: string | undefined;
  readonly timeZone: string;
  readonly withoutUsers?: boolean | undefined;
  /** The voice server of the former server; undefined: that of the fleet. */
  readonly voiceUrl?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** What the hub lists at once. */
const batchMax = 500;
/** Printed problems of one kind, for readability. */
const shownMax = 50;

export async function importServer(client: FlotillaClient, args: ServerImportArguments): Promise<ExitCode> {
  const { dryRun = false, timeZone, withoutUsers } = args;
  if (!isTimeZone(timeZone))
    throw new UsageError(`"${timeZone}" is not a time zone, such as Asia/Shanghai. Check --time-zone.`);
  const voiceUrl = args.voiceUrl === undefined ? undefined : voiceUrlOf(args.voiceUrl);
  const tags = voiceUrl === undefined ? [] : [voiceGroup];
  const { boards, problems } = boardsOfDump(await source(args), { timeZone, withoutUsers, tags });
  if (!dryRun) goOnWithoutReader();
  if (voiceUrl !== undefined && !dryRun) await setVoiceServer(client, voiceUrl);
  let refused = 0;
  let registered = 0;
  for (let start = 0; start < boards.length; start += batchMax) {
    const batch = boards.slice(start, start + batchMax);
    const refusals = await previewed(client, batch);
    refused += refusals.size;
    const fresh = batch.filter(({ deviceId }) => !refusals.has(deviceId));
    registered += fresh.length;
    for (const [board, message] of refusals) say(`${board}: ${message}`);
    if (!dryRun) await save(client, batch, fresh);
    for (const board of batch) await write(`${jsonText({ ...board, isNew: !refusals.has(board.deviceId) })}\n`);
  }
  report(problems);
  if (voiceUrl !== undefined)
    say(`The group ${voiceGroup} ${dryRun ? 'would have' : 'has'} the voice server ${voiceUrl}.`);
  const done = dryRun ? 'would be registered' : 'registered';
  say(`${registered} of ${boards.length} boards ${done}; ${refused} not, as said above. None was moved.`);
  return exitCodes.done;
}

/** What the hub would refuse, by board: mostly that it is registered already. */
async function previewed(
  client: FlotillaClient,
  batch: readonly ImportedBoard[],
): Promise<ReadonlyMap<string, string>> {
  const { previewRegistration } = await client.request(PreviewRegistrationDocument, { input: batch.map(inputOf) });
  return new Map(
    previewRegistration.problems.map(({ message, path }) => [batch[Number(path[1])]?.deviceId ?? '', message]),
  );
}

async function save(
  client: FlotillaClient,
  batch: readonly ImportedBoard[],
  fresh: readonly ImportedBoard[],
): Promise<void> {
  if (fresh.length > 0)
    expectAccepted((await client.request(RegisterDevicesDocument, { input: fresh.map(inputOf) })).registerDevices);
  const named = batch.map(({ agent, deviceId, name, user }) => ({ deviceId, ...given({ name, agent, user }) }));
  expectAccepted((await client.request(AddMovingBoardsDocument, { boards: named })).addMovingBoards);
}

function inputOf({ deviceId, name, tags }: ImportedBoard) {
  return { deviceId, tags, dialect: 'XIAOZHI' as const, ...given({ name }) };
}

function report(problems: readonly BoardProblem[]): void {
  const kinds = ['cannotMove', 'duplicate', 'withoutAgent', 'disabledUser'] as const;
  for (const kind of kinds) {
    const found = problems.filter((problem) => problem.kind === kind);
    for (const { board, message } of found.slice(0, shownMax)) say(`${printable(board)}: ${message}`);
    if (found.length > shownMax) say(`… and ${found.length - shownMax} more of these.`);
  }
}

async function source({ file, from, tokenEnv }: ServerImportArguments): Promise<Dump> {
  if ((file === undefined) === (from === undefined)) throw new UsageError('Name a dump, or an API with --from.');
  if (file !== undefined) return read(file);
  const token = process.env[tokenEnv ?? ''] ?? '';
  if (token === '') throw new UsageError('Put the token into an environment variable and name it with --token-env.');
  return readApi({ from: from ?? '', token });
}

async function read(file: string): Promise<Dump> {
  try {
    return await readDump(createReadStream(file, { encoding: 'utf8' }));
  } catch (error) {
    if (error instanceof DumpError) throw new UsageError(`${file}: ${error.message}`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    throw code === undefined ? error : new UsageError(`${file} cannot be read: ${code}. Check its name.`);
  }
}
