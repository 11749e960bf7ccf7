/** Where this lib says things: a subset of pino, so that the hub passes its own logger. */

export interface RegistryLogger {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

const ignore = (): void => undefined;

/** For callers that want no log. */
export const silentLogger: RegistryLogger = { info: ignore, warn: ignore, error: ignore };
