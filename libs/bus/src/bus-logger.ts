/** The log lines of the bus, as a pino logger takes them. */
export interface BusLogger {
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  error(details: Readonly<Record<string, unknown>>, message: string): void;
}
