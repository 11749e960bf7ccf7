/** Which hub, with which key: options first, then the environment. */
import { readFileSync } from 'node:fs';
import { FlotillaClient } from '@flotilla/client';
import { WebSocket } from 'ws';
import { UsageError } from './exit-codes.js';

export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly keyFile?: string | undefined;
}

export interface HubAddress {
  readonly url: string;
  readonly apiKey: string;
}

/** Where `npm start` listens. */
const defaultUrl = 'http://127.0.0.1:8080';

export function hubAddress(
  { url, key, keyFile }: ConnectionOptions,
  environment: NodeJS.ProcessEnv = process.env,
): HubAddress {
  const address = url ?? environment['FLOTILLA_URL'] ?? defaultUrl;
  if (!/^https?:\/\/./.test(address) || !URL.canParse(address))
    throw new UsageError(
      `"${address}" is no address of a hub: give one like https://hub.example with --url or FLOTILLA_URL.`,
    );
  const apiKey = key ?? (keyFile === undefined ? undefined : keyIn(keyFile)) ?? environment['FLOTILLA_KEY'];
  if (apiKey === undefined || apiKey === '')
    throw new UsageError('No API key. Set FLOTILLA_KEY, or give a file with --key-file.');
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new UsageError('The API key has invalid characters. Check the file or variable.');
  return { url: address, apiKey };
}

function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`The key file cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Runs one command's work with a client, and closes it afterwards. */
export async function withClient<Result>(
  options: ConnectionOptions,
  work: (client: FlotillaClient) => Promise<Result>,
): Promise<Result> {
  const client = new FlotillaClient({ ...hubAddress(options), webSocket: WebSocket });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
