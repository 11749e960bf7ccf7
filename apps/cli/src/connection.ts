/** The address of the hub and the API key: from options, the environment or a profile. */
import { readFileSync } from 'node:fs';
import { FlotillaClient } from '@flotilla/client';
import { WebSocket } from 'ws';
import { messageOf } from './error-message.js';
import { exitCodes, UsageError } from './exit-codes.js';
import { profileNamed, type Profile } from './profiles/profile-store.js';

export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly profile?: string | undefined;
}

interface HubAddress {
  readonly url: string;
  readonly apiKey: string;
}

/** The address on which `npm start` listens. */
export const defaultUrl = 'http://127.0.0.1:8080';

/**
 * Options come first, then a profile that `--profile` names, the environment, and the current
 * profile. The key of a profile is only sent to the address of this profile.
 */
export function hubAddress(options: ConnectionOptions, environment: NodeJS.ProcessEnv = process.env): HubAddress {
  const given = givenKey(options);
  const ofEnvironment = environment['FLOTILLA_KEY'];
  const { url, profile } = urlAndProfile(options, environment, (given ?? ofEnvironment) !== undefined);
  const ofProfile = profile !== undefined && isSameHub(profile, url) ? profile.key : undefined;
  const apiKey = given ?? (options.profile === undefined ? (ofEnvironment ?? ofProfile) : (ofProfile ?? ofEnvironment));
  if (apiKey === undefined || apiKey === '')
    throw new UsageError(
      `No API key for ${url}. Run \`flotilla login\`, set FLOTILLA_KEY, or use --key-file.`,
      exitCodes.forbidden,
    );
  return { url, apiKey: checkedKey(apiKey) };
}

/** The address of the hub, for commands that need no key. */
export function hubUrl(options: ConnectionOptions, environment: NodeJS.ProcessEnv = process.env): string {
  return urlAndProfile(options, environment, true).url;
}

/** The key that the options give. */
export function givenKey({ key, keyFile }: Pick<ConnectionOptions, 'key' | 'keyFile'>): string | undefined {
  return key ?? (keyFile === undefined ? undefined : keyIn(keyFile));
}

/** Reads profiles only for what is missing: a damaged file stops no command that needs none. */
function urlAndProfile(
  options: ConnectionOptions,
  environment: NodeJS.ProcessEnv,
  isKeyKnown: boolean,
): { readonly url: string; readonly profile: Profile | undefined } {
  const given = options.url ?? environment['FLOTILLA_URL'];
  const isComplete = options.profile === undefined && given !== undefined && isKeyKnown;
  const profile = isComplete ? undefined : profileNamed(options.profile, environment);
  const named = options.profile === undefined ? undefined : profile?.url;
  return { url: checkedUrl(options.url ?? named ?? given ?? profile?.url ?? defaultUrl), profile };
}

/** Returns the address of a hub. Throws UsageError if it is not one. */
export function checkedUrl(address: string): string {
  if (/^https?:\/\/./.test(address) && URL.canParse(address)) return address;
  throw new UsageError(
    `"${address}" is not an address of a hub. Set --url or FLOTILLA_URL to one like https://hub.example.`,
  );
}

/** Returns a key that can be sent in a header. Throws UsageError otherwise. */
export function checkedKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError('The API key has invalid characters. Check the file or variable.', exitCodes.forbidden);
}

function isSameHub(profile: Profile, url: string): boolean {
  return URL.canParse(profile.url) && new URL(profile.url).href === new URL(url).href;
}

function keyIn(file: string): string {
  const key = textOf(file).trim();
  if (key === '') throw new UsageError(`The key file ${file} is empty. Check --key-file.`, exitCodes.forbidden);
  return key;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`The key file cannot be read: ${messageOf(error)}. Check --key-file.`);
  }
}

/** Runs `work` with a client, and closes the client afterwards. */
export function withClient<Result>(
  options: ConnectionOptions,
  work: (client: FlotillaClient) => Promise<Result>,
): Promise<Result> {
  return withHub(hubAddress(options), work);
}

/** Runs `work` with a client of this hub, and closes the client afterwards. */
export async function withHub<Result>(
  { url, apiKey }: HubAddress,
  work: (client: FlotillaClient) => Promise<Result>,
): Promise<Result> {
  const client = new FlotillaClient({ url, apiKey, webSocket: WebSocket });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
