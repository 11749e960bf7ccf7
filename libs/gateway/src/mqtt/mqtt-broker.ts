/**
 * Aedes with the options that devices need: connections, subscriptions, acknowledgements.
 * It delivers, stores and retains no message: each ends in `onMessage`, with its connection.
 */
import { Aedes } from 'aedes';
import type { AedesOptions, Client } from 'aedes';
import aedesPersistence from 'aedes-persistence';
import mqtt from 'mqtt-packet';

export interface DeviceMessage {
  readonly topic: string;
  readonly payload: Buffer;
}

type Done = (error?: Error | null) => void;

const subscribe = (_topic: string, _listener: unknown, done?: Done) => done?.();

/**
 * An emitter without listeners. No device receives messages of another one, and no device can
 * pretend on `$SYS` to be a second broker, which may close connections.
 */
const silentEmitter = {
  on: subscribe,
  removeListener: subscribe,
  emit: (_packet: unknown, done?: Done) => done?.(),
  close: (done?: Done) => done?.(),
};

/** The package is CommonJS: its function is the default export, contrary to its types. */
const makePersistence = aedesPersistence as unknown as () => object;

/**
 * Aedes reads stored messages at each CONNECT. No message is stored, so it receives an empty list;
 * the two streams of the default cost 100 µs of CPU and 7 KB per connection.
 */
const makeEmptyPersistence = () => Object.assign(makePersistence(), { outgoingStream: () => [].values() });

// The cache has 65,536 buffers, 9 MB, for packets that are a small part of the traffic.
mqtt.writeToStream.cacheNumbers = false;

export function makeBroker(
  options: Omit<AedesOptions, 'authorizePublish' | 'mq' | 'persistence' | 'published'>,
  onMessage: (client: Client, message: DeviceMessage) => void,
): Aedes {
  return new Aedes({
    ...options,
    mq: silentEmitter,
    persistence: makeEmptyPersistence(),
    authorizePublish: (_client, packet, proceed) => {
      packet.retain = false;
      proceed(null);
    },
    // Aedes calls this once for each message, also where the device repeats one of QoS 2.
    published: (packet, client: Client | null, done: Done) => {
      if (client !== null) onMessage(client, { topic: packet.topic, payload: Buffer.from(packet.payload) });
      // Aedes would otherwise read on inside its parser's current step.
      process.nextTick(done);
    },
  });
}
