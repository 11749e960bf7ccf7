/**
 * Branded identifiers: the compiler rejects a call id where a device id is expected. A value gets
 * its brand once, where it enters the hub.
 */

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/**
 * A stable device id: a lower-case MAC with colons for xiaozhi ids, otherwise the id that the
 * device connected with.
 */
export type DeviceId = Brand<'DeviceId'>;
/** UUIDv7 of one tool call; its first 48 bits are the creation time. */
export type CallId = Brand<'CallId'>;
/** UUIDv7 of a job. */
export type JobId = Brand<'JobId'>;
/**
 * One hub process, which holds a lease row. A directory entry contains the id of the process that
 * holds the session.
 */
export type HubProcessId = Brand<'HubProcessId'>;
/** Lower-case hex SHA-256 of a tool set's canonical JSON. */
export type ToolSetHash = Brand<'ToolSetHash'>;
