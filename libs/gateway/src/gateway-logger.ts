/** The log lines of the gateway, as a pino logger takes them. */
export interface GatewayLogger {
  debug(details: Readonly<Record<string, unknown>>, message: string): void;
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  error(details: Readonly<Record<string, unknown>>, message: string): void;
}
