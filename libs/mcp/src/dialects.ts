/**
 * The device families and the transports that the hub knows. The lists in Prisma, GraphQL and the
 * console are the same; test/repository/dialects.spec.ts compares them.
 */

/** How a device family writes its messages. CONTRIBUTING.md has the steps for another one. */
export const dialects = ['XIAOZHI', 'MCPU'] as const;
export type DialectName = (typeof dialects)[number];

/** The family of devices that enrol themselves, which they do at the OTA endpoint. */
export const enrollingDialect: DialectName = 'XIAOZHI';

export const transportKinds = ['MQTT', 'WEBSOCKET', 'TCP'] as const;
export type TransportKind = (typeof transportKinds)[number];

/** The transports of devices that connect themselves. Over TCP the hub dials the device. */
export type IncomingTransport = Exclude<TransportKind, 'TCP'>;
