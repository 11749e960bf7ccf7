/** The gateways to which OTA answers send devices, if the hub has several public MQTT addresses. */
import { GatewayPlaces } from '@flotilla/gateway';
import { systemClock } from '../system-clock.js';
import type { OpenGateway } from './open-gateway.js';
import type { SharedServices } from './shared-services.js';

export async function openPlaces({ closers, config, lease, logger, registry }: SharedServices): Promise<GatewayPlaces> {
  const places = new GatewayPlaces({ registry, lease, clock: systemClock, logger });
  if (config.publicMqtt.length > 1) {
    await places.start();
    closers.add('gateway places', () => places.stop());
  }
  return places;
}

/** From now on devices are sent to this gateway, as long as it accepts them. */
export function announceGateway(places: GatewayPlaces, gateway: OpenGateway, { bus, config }: SharedServices): void {
  if (config.ownMqtt === undefined) return;
  const acceptsDevices = (): boolean => {
    const { isDraining, isFull } = gateway.occupancy();
    return !isDraining && !isFull && bus.isReachable;
  };
  places.announce({ endpoint: config.ownMqtt, acceptsDevices });
}
