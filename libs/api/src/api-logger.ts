/** The part of pino's logger that the API uses. */
export interface ApiLogger {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}
