/**
 * `flotilla devices import`: checks the whole file, then registers a thousand devices at a time.
 */
import { readFile, stat } from 'node:fs/promises';
import { FlotillaError, type FlotillaClient } from '@flotilla/client';
import { DeviceFileError, parseDevices, trusting, type DeviceLine } from '@flotilla/client/devices-csv';
import { messageOf, unreadable } from '../error-message.js';
import { failWithoutOutput, say, write } from '../console/output.js';
import { jsonText } from '../console/printable.js';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.js';
import { PreviewRegistrationDocument, RegisterDevicesDocument } from '../generated/operations.js';
import { readStandardInput, standardInput } from '../json-input.js';

export interface ImportArguments {
  readonly file: string;
  readonly fromLine?: number | undefined;
  readonly dryRun?: boolean | undefined;
  /** Seconds from now in which devices without a Client-Id are admitted without a code. */
  readonly admitWithoutCodeFor?: number | undefined;
}

/** Maximum bytes of a file: about a million devices. */
const fileBytesMax = 128 * 1024 * 1024;
/** What the hub registers at once, all or none. */
const batchMax = 1_000;
/** Maximum of printed errors, for readability. */
const shownMax = 50;

export async function importDevices(
  client: FlotillaClient,
  { file, fromLine = 0, dryRun, admitWithoutCodeFor }: ImportArguments,
): Promise<ExitCode> {
  const { lines, errors } = parsed(await read(file));
  const until =
    admitWithoutCodeFor === undefined ? undefined : new Date(Date.now() + admitWithoutCodeFor * 1_000).toISOString();
  const wrong = errors.filter(({ line }) => line >= fromLine);
  const wanted = lines
    .filter(({ line }) => line >= fromLine)
    .map(({ line, device }) => ({ line, device: trusting(device, until) }));
  if (wrong.length > 0) {
    printErrors(wrong);
    say('Nothing was registered.');
    return exitCodes.refused;
  }
  if (wanted.length === 0) throw new UsageError('The file contains no devices. Check the file and --from-line.');
  if (dryRun === true) return check(client, wanted);
  failWithoutOutput();
  for (let start = 0; start < wanted.length; start += batchMax) {
    const next = wanted[start + batchMax]?.line;
    if (!(await register(client, wanted.slice(start, start + batchMax), next))) return exitCodes.refused;
  }
  return exitCodes.done;
}

/** Asks the hub what it would reject, without a registration. */
async function check(client: FlotillaClient, wanted: readonly DeviceLine[]): Promise<ExitCode> {
  const found: PrintedError[] = [];
  for (let start = 0; start < wanted.length; start += batchMax) {
    const batch = wanted.slice(start, start + batchMax);
    const { previewRegistration } = await client.request(PreviewRegistrationDocument, {
      input: batch.map(({ device }) => device),
    });
    for (const { path, message } of previewRegistration.problems)
      found.push({ line: batch[Number(path[1])]?.line ?? batch[0]?.line ?? 0, message });
  }
  printErrors(found);
  const count = wanted.length - found.length;
  say(`${count} ${count === 1 ? 'device is' : 'devices are'} valid. Nothing was registered.`);
  return found.length === 0 ? exitCodes.done : exitCodes.refused;
}

function parsed(source: string): ReturnType<typeof parseDevices> {
  try {
    return parseDevices(source);
  } catch (error) {
    throw error instanceof DeviceFileError ? new UsageError(error.message) : error;
  }
}

/**
 * Registers one batch. False if the hub rejected it; prints the lines in error. `next` is the line
 * after it.
 */
async function register(
  client: FlotillaClient,
  batch: readonly DeviceLine[],
  next: number | undefined,
): Promise<boolean> {
  const first = batch[0]?.line ?? 0;
  const lines = `Lines ${first} to ${batch.at(-1)?.line ?? first}`;
  const { registerDevices } = await client
    .request(RegisterDevicesDocument, { input: batch.map(({ device }) => device) })
    .catch((error: unknown) => {
      say(
        `${lines} may be registered or not; earlier lines are. Continue with --from-line ${first}. ` +
          'If the hub then rejects devices as known, rotate their credentials (flotilla devices rotate) ' +
          'and continue after them.',
      );
      throw error;
    });
  if (registerDevices.userErrors.length > 0) {
    printErrors(
      registerDevices.userErrors.map(({ path, message }) => ({ line: batch[Number(path[1])]?.line ?? first, message })),
    );
    say(`${lines} and later lines were not registered. Fix the file and continue with --from-line ${first}.`);
    return false;
  }
  const { credentials, devices } = registerDevices;
  // A key without DEVICES_READ gets credentials and no devices.
  if (devices.length !== batch.length && devices.length > 0)
    throw new FlotillaError('BAD_RESPONSE', 'The hub registered a different number of devices than it received.');
  const rows = batch.map(({ device }, index) => ({
    deviceId: devices[index]?.id ?? device.deviceId,
    credential: credentials[index] ?? null,
  }));
  try {
    for (const row of rows) await write(`${jsonText(row)}\n`);
  } catch (error) {
    throw lostOutput(error, lines, next);
  }
  return true;
}

/** As after `| head`: the hub shows a credential only once. */
function lostOutput(error: unknown, lines: string, next: number | undefined): UsageError {
  const rest = next === undefined ? '' : ` Continue with --from-line ${next}.`;
  return new UsageError(
    `The output cannot be written any more: ${messageOf(error)}. ${lines} are registered. ` +
      `The hub does not show their credentials again: rotate those that are lost (flotilla devices rotate).${rest}`,
  );
}

interface PrintedError {
  readonly line: number;
  readonly message: string;
}

function printErrors(errors: readonly PrintedError[]): void {
  for (const { line, message } of errors.slice(0, shownMax)) say(`Line ${line}: ${message}`);
  if (errors.length > shownMax) say(`… and ${errors.length - shownMax} more.`);
}

async function read(file: string): Promise<string> {
  if (file === standardInput) return readStandardInput(fileBytesMax);
  try {
    const { size } = await stat(file);
    if (size > fileBytesMax)
      throw new UsageError(`${file} has ${size} bytes; ${fileBytesMax} are allowed. Split the file.`);
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}
