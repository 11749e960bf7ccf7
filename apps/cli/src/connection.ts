/** The address of the hub and the API key: from options, or else from the environment. */
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

/** The address on which `npm start` listens. */
const defaultUrl = 'http://127.0.0.1:8080';

export function hubAddress(
  { url, key, keyFile }: ConnectionOptions,
  environment: NodeJS.ProcessEnv = process.env,
): HubAddress {
  const address = url ?? environment['FLOTILLA_URL'] ?? defaultUrl;
  if (!/^https?:\/\/./.test(address) || !URL.canParse(address))
    throw new UsageError(
      `"${address}" is not an address of a hub. Set --url or FLOTILLA_URL to one like https://hub.example.`,
    );
  const apiKey = key ?? (keyFile === undefined ? undefined : keyIn(keyFile)) ?? environment['FLOTILLA_KEY'];
  if (apiKey === undefined || apiKey === '')
    throw new UsageError('No API key. Set FLOTILLA_KEY, or name a file with --key-file.');
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new UsageError('The API key has invalid characters. Check the file or variable.');
  return { url: address, apiKey };
}

function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(
      `The key file cannot be read: ${error instanceof Error ? error.message : String(error)}. Check --key-file.`,
    );
  }
}

/** Runs `work` with a client, and closes the client afterwards. */
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
