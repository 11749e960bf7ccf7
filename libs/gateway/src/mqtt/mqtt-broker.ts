/**
 * Aedes with the options that devices need: connections, subscriptions, acknowledgements.
 * It delivers, stores and retains no message: each ends in `onMessage`, with its connection.
 */
import { Aedes } from 'aedes';
import type { AedesOptions, Client } from 'aedes';

export interface DeviceMessage {
  readonly topic: string;
  readonly text: string;
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

export function makeBroker(
  options: Omit<AedesOptions, 'authorizePublish' | 'mq' | 'published'>,
  onMessage: (client: Client, message: DeviceMessage) => void,
): Aedes {
  return new Aedes({
    ...options,
    mq: silentEmitter,
    authorizePublish: (_client, packet, proceed) => {
      packet.retain = false;
      proceed(null);
    },
    // Aedes calls this once for each message, also where the device repeats one of QoS 2.
    published: (packet, client: Client | null, done: Done) => {
      if (client !== null) onMessage(client, { topic: packet.topic, text: packet.payload.toString() });
      // Aedes would otherwise read on inside its parser's current step.
      process.nextTick(done);
    },
  });
}
