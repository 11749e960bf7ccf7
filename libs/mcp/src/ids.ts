/** Branded identifiers, so that a call's id cannot be passed where a device's is wanted. A brand is given once, where the value enters. */

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** A device's own stable id: a MAC in lower case with colons for xiaozhi ids, otherwise the id it connected with. */
export type DeviceId = Brand<'DeviceId'>;
/** UUIDv7 of one tool call; its first 48 bits are the time at which it was made. */
export type CallId = Brand<'CallId'>;
/** UUIDv7 of a job. */
export type JobId = Brand<'JobId'>;
/** One hub process: the holder of a lease row. A device's directory entry names the one whose gateway holds its session. */
export type HubProcessId = Brand<'HubProcessId'>;
/** Lower-case hex SHA-256 of a tool set's canonical JSON. */
export type ToolSetHash = Brand<'ToolSetHash'>;
