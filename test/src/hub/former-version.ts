/** A hub process that plays the former version: it reads and writes the messages of 0.1.0. */
import { fileURLToPath } from 'node:url';

const register = fileURLToPath(new URL('./former-version/register.mjs', import.meta.url));

/** The environment of such a process. */
export const formerVersion = { NODE_OPTIONS: `--import file://${register}` };

/** What its log contains. */
export const FORMER_VERSION_SPEAKS = 'This process speaks the messages of 0.1.0.';
