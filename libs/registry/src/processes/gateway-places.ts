/**
 * The gateways that devices may be sent to: living processes with an own MQTT address. Two of them
 * can share one address.
 */
import type { Queryable } from '../database/database.js';

/** A public MQTT address, and whether a gateway behind it accepts devices. */
export interface GatewayPlace {
  readonly endpoint: string;
  readonly acceptsDevices: boolean;
}

const LIST = {
  name: 'gateway-places',
  text: `SELECT mqtt_endpoint AS endpoint, bool_or(accepts_devices AND NOT is_stopping) AS accepts
         FROM hub_process WHERE lease_until > now() AND mqtt_endpoint IS NOT NULL GROUP BY mqtt_endpoint`,
};

export async function listGatewayPlaces(database: Queryable): Promise<readonly GatewayPlace[]> {
  const rows = await database.query<{ endpoint: string; accepts: boolean }>(LIST, []);
  return rows.map(({ endpoint, accepts }) => ({ endpoint, acceptsDevices: accepts }));
}
