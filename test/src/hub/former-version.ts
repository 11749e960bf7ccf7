/** A hub process that plays the former version: it reads and writes the messages of 0.1.0. */
import { fileURLToPath } from 'node:url';
import type { HubOptions } from './hub-process.js';

const register = fileURLToPath(new URL('./former-version/register.mjs', import.meta.url));

/** How to start such a process. It is not bundled, because a module of it is replaced. */
export const formerVersion = {
  main: fileURLToPath(new URL('../../../apps/hub/dist/main.js', import.meta.url)),
  env: { NODE_OPTIONS: `--import file://${register}` },
} as const satisfies HubOptions;

/** What its log contains. */
export const FORMER_VERSION_SPEAKS = 'This process speaks the messages of 0.1.0.';
