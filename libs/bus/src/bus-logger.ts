/** The logger of the bus, compatible with pino. */
export interface BusLogger {
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
  error(details: Readonly<Record<string, unknown>>, message: string): void;
}
