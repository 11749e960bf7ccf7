/** Reads the settings in `.env` of the working folder. Variables that are set already stay. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { messageOf } from '../error-message.js';
import { ConfigError } from './config-error.js';

/** Throws a ConfigError for a file that cannot be read. */
export function loadEnvFile(file = '.env'): void {
  if (!existsSync(file)) return;
  for (const [name, value] of Object.entries(parseEnv(textOf(file)))) process.env[name] ??= value;
}

/** Editors of Windows begin a file with it. It would become a part of the first name. */
const BYTE_ORDER_MARK = /^\ufeff/;

/** Reads once, because a pipe has its text once. Node's own function hides why it cannot read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(BYTE_ORDER_MARK, '');
  } catch (error) {
    const reason = messageOf(error);
    throw new ConfigError([
      `${path.resolve(file)} cannot be read: ${reason}. Let the user who runs this command read it, or remove it.`,
    ]);
  }
}
