/**
 * The log of the hub: JSON lines on standard error, or readable lines on a terminal. Standard
 * output is only for the ready line.
 */
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';

/** Fields that may hold secrets; the logger removes them. */
const SECRETS = [
  'password',
  'secret',
  'token',
  'authorization',
  '*.password',
  '*.secret',
  '*.token',
  'headers.authorization',
];

export function createLogger(level: string): Logger {
  const options = { level, base: null, redact: SECRETS };
  return process.stderr.isTTY
    ? pino(options, pretty({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }))
    : pino(options, pino.destination({ dest: 2, sync: true }));
}
