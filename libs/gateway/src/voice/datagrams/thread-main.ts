/** The thread of a UDP port. While datagrams come and go it looks for work every millisecond, which costs both threads less than to wake each other for each. */
import { parentPort, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { SocketPort } from './datagram-port.js';
import { DatagramRing } from './datagram-ring.js';
import type { ThreadOrder, ThreadReport, ThreadWord } from './datagram-thread.js';

const LOOK_EVERY_MS = 1;
/** Looks that found nothing, until it sleeps. */
const LOOKS_BEFORE_SLEEP = 5;

class PortThread {
  #idleLooks = 0;
  #hasNews = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly socket: SocketPort,
    private readonly incoming: DatagramRing,
    private readonly outgoing: DatagramRing,
    private readonly wakeHub: () => void,
  ) {
    socket.ondatagram = (datagram, from) => {
      // What finds no place is missing in its sender's numbers, as is what the system's own buffer had none for.
      incoming.write(datagram, from);
      this.#hasNews = true;
      if (this.#timer === undefined) this.look();
    };
  }

  /** Hands on what there is in either direction, and looks again soon. */
  readonly look = (): void => {
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    if (hadNews && this.incoming.rouse()) this.wakeHub();
    let sent = 0;
    this.outgoing.read(Infinity, (datagram, to) => {
      sent += 1;
      this.socket.send(datagram, to);
    });
    this.#idleLooks = hadNews || sent > 0 ? 0 : this.#idleLooks + 1;
    if (this.#idleLooks < LOOKS_BEFORE_SLEEP || !this.outgoing.sleep()) {
      // Whoever writes to one that looks anyway need not wake it.
      this.#timer ??= setInterval(this.look, LOOK_EVERY_MS);
    } else this.#rest();
  };

  close(): void {
    this.#rest();
    void this.socket.close();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

async function begin(hub: MessagePort, order: ThreadOrder): Promise<void> {
  const report = (what: ThreadReport) => hub.postMessage(what);
  let socket: SocketPort;
  try {
    socket = await SocketPort.open(order.options, new Int32Array(order.notSent));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return report({ failed: message, code });
  }
  const rings = { incoming: new DatagramRing(order.incoming), outgoing: new DatagramRing(order.outgoing) };
  const thread = new PortThread(socket, rings.incoming, rings.outgoing, () => hub.postMessage('wake'));
  hub.on('message', (word: ThreadWord) => {
    if (word === 'wake') return thread.look();
    thread.close();
    hub.close();
  });
  report({ port: socket.port, receiveBufferBytes: socket.receiveBufferBytes });
}

if (parentPort !== null) void begin(parentPort, workerData as ThreadOrder);
