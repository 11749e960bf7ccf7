/**
 * Profiles: hubs and their keys, in one file that only its owner can read. An environment variable
 * or an option can choose another profile than the current one.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { messageOf } from '../error-message.js';
import { say } from '../console/output.js';
import { UsageError } from '../exit-codes.js';
import { jsonObject } from '../json-input.js';

export interface Profile {
  readonly url: string;
  readonly key: string;
}

interface Profiles {
  /** The name of the profile that commands use. */
  readonly current: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const empty: Profiles = { current: undefined, profiles: {} };

/** The file with the profiles: in `XDG_CONFIG_HOME`, `~/.config`, or `%APPDATA%` on Windows. */
export function profileFile(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const given = platform === 'win32' ? environment['APPDATA'] : environment['XDG_CONFIG_HOME'];
  // The XDG specification ignores relative paths.
  const base = given !== undefined && path.isAbsolute(given) ? given : path.join(homedir(), '.config');
  return path.join(base, 'flotilla', 'profiles.json');
}

/** Reads all profiles; a missing file has none. */
export function readProfiles(file: string): Profiles {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
    warnOfReaders(file);
  } catch (error) {
    if (isMissing(error)) return empty;
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}. Check its rights.`);
  }
  const { current, profiles } = jsonObject(content, file);
  if (!isProfiles(profiles)) throw new UsageError(`${file} is damaged. Delete it, and run \`flotilla login\` again.`);
  return { current: typeof current === 'string' ? current : undefined, profiles };
}

/** Replaces the file at once, so that a failure keeps the old one. */
export function writeProfiles(file: string, profiles: Profiles): void {
  const made = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(made, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
    chmodSync(made, 0o600);
    renameSync(made, file);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}. Check its folder and rights.`);
  }
}

/** The named profile, or the current one. A name without a profile is an error. */
export function profileNamed(named: string | undefined, environment: NodeJS.ProcessEnv): Profile | undefined {
  const { current, profiles } = readProfiles(profileFile(environment));
  const name = named ?? environment['FLOTILLA_PROFILE'] ?? current;
  if (name === undefined) return undefined;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined || name === current) return profile;
  throw new UsageError(`There is no profile "${name}". Create it with: flotilla login --profile ${name}`);
}

/** Other users could read the keys, for example after a copy from a backup. */
function warnOfReaders(file: string): void {
  if (process.platform === 'win32' || (statSync(file).mode & 0o077) === 0) return;
  say(`Other users can read the keys in ${file}. Run: chmod 600 ${file}`);
}

function isProfiles(value: unknown): value is Profiles['profiles'] {
  return typeof value === 'object' && value !== null && Object.values(value).every(isProfile);
}

function isProfile(value: unknown): value is Profile {
  return (
    typeof value === 'object' &&
    value !== null &&
    'url' in value &&
    typeof value.url === 'string' &&
    'key' in value &&
    typeof value.key === 'string'
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
