/**
 * Log lines of Nest in the log of the hub. Errors of resolvers are left out, because
 * public-errors.ts logs them.
 */
import type { LoggerService } from '@nestjs/common';
import type { ApiLogger } from '../api-logger.js';

export function makeNestLog(logger: ApiLogger): LoggerService {
  return {
    log: (message: unknown) => logger.debug({}, String(message)),
    debug: (message: unknown) => logger.debug({}, String(message)),
    verbose: (message: unknown) => logger.debug({}, String(message)),
    warn: (message: unknown) => logger.warn({}, String(message)),
    error: (message: unknown, ...details: unknown[]) => {
      if (details.at(-1) !== 'ExceptionsHandler') logger.error({ err: message }, 'Nest reports an error');
    },
    fatal: (message: unknown) => logger.error({ err: message }, 'Nest reports an error'),
  };
}
