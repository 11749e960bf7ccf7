/**
 * Aedes, cut down to what devices need: a connection, keep-alive and messages to the hub. Nothing is fanned out, stored or retained, and wills are not
 * published: every publish ends here, routed by the connection it came from.
 */
import { Aedes } from 'aedes';
import type { AedesOptions, Client, PublishPacket } from 'aedes';

type Done = (error?: Error) => void;
/** `readOn` is to be called when the next bytes of this client may be read. */
type Receive = (
  client: Client,
  message: { readonly topic: string; readonly payload: Uint8Array },
  readOn: () => void,
) => void;

const noBytes = new Uint8Array();

export class MqttBroker extends Aedes {
  /** Missing in Aedes' types. */
  declare readonly persistence: { outgoingStream: () => Iterable<never> };
  readonly #receive: Receive;

  constructor(options: AedesOptions, receive: Receive) {
    super(options);
    this.#receive = receive;
  }

  /** Nothing is kept for a device that is away. Aedes asks for it at each CONNECT, and its own store answers with two streams, one around the other. */
  override async listen(): Promise<void> {
    await super.listen();
    this.persistence.outgoingStream = () => [].values();
  }

  /**
   * Where Aedes would hand a packet to its emitter: devices' messages, and its own on `$SYS`, for which nobody listens. Skipping the emitter is what
   * keeps messages from other devices.
   */
  override publish(packet: PublishPacket, from?: Client | Done | null, done?: Done): void {
    if (typeof from === 'function') {
      from();
      return;
    }
    // Not inside this call: Aedes would read on within its parser's own step.
    const readOn = () => done && process.nextTick(done);
    if (!from) {
      readOn();
      return;
    }
    const payload = typeof packet.payload === 'string' ? Buffer.from(packet.payload) : (packet.payload ?? noBytes);
    this.#receive(from, { topic: packet.topic, payload }, readOn);
  }
}
