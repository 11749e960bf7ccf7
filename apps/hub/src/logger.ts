/** The hub's log: JSON lines on standard error, or readable ones where that is a terminal. Standard output is for the ready line alone. */
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';

/** Members that may carry a secret are cut out wherever a log call has them. */
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
