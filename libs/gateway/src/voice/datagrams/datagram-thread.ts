/**
 * A UDP port with a thread of its own. In the thread of everything else datagrams are read last, 32 at a time between all other sockets, so that speech is
 * what waits first in a busy process; and each costs that thread a system call in either direction.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DatagramPort, DatagramPortOptions, Endpoint, HearDatagram } from './datagram-port.js';
import { DatagramRing } from './datagram-ring.js';

/** What the thread begins with. */
export interface ThreadOrder {
  readonly options: DatagramPortOptions;
  /** Memory of the rings, and of the one number below. */
  readonly incoming: SharedArrayBuffer;
  readonly outgoing: SharedArrayBuffer;
  readonly notSent: SharedArrayBuffer;
}

/** What it says at first; afterwards it sends `'wake'` alone. */
export type ThreadReport =
  { readonly port: number; readonly receiveBufferBytes: number } | { readonly failed: string; readonly code: unknown };

/** To the thread. */
export type ThreadWord = 'wake' | 'close';

/** In each direction: a third of a second of a thousand speakers. */
const RING_BYTES = 1024 * 1024;
/** Datagrams that are taken before other things have their turn. */
const AT_ONCE = 128;
/** The thread allocates little; V8's default for its young generation is sixteen times as much. */
const YOUNG_GENERATION_MB = 4;

export class DatagramThread implements DatagramPort {
  ondatagram: HearDatagram = () => undefined;
  #isClosed = false;

  private constructor(
    private readonly worker: Worker,
    private readonly rings: { readonly incoming: DatagramRing; readonly outgoing: DatagramRing },
    private readonly notSentInThread: Int32Array,
    readonly port: number,
    readonly receiveBufferBytes: number,
  ) {
    worker.on('message', () => this.#read());
  }

  /** Rejects with the system's error. */
  static async open(options: DatagramPortOptions): Promise<DatagramThread> {
    const order: ThreadOrder = {
      options,
      incoming: DatagramRing.allocate(RING_BYTES),
      outgoing: DatagramRing.allocate(RING_BYTES),
      notSent: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    };
    const worker = new Worker(new URL('./thread-main.js', import.meta.url), {
      name: 'udp',
      workerData: order,
      // Nothing of the hub's secrets and options is any use there.
      env: {},
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    const [report] = (await once(worker, 'message')) as [ThreadReport];
    if ('failed' in report) throw Object.assign(new Error(report.failed), { code: report.code });
    const rings = { incoming: new DatagramRing(order.incoming), outgoing: new DatagramRing(order.outgoing) };
    return new DatagramThread(worker, rings, new Int32Array(order.notSent), report.port, report.receiveBufferBytes);
  }

  get notSent(): number {
    return Atomics.load(this.notSentInThread, 0);
  }

  send(datagram: Uint8Array, to: Endpoint): void {
    const { outgoing } = this.rings;
    if (!outgoing.write(datagram, to)) Atomics.add(this.notSentInThread, 0, 1);
    if (outgoing.rouse()) this.#tell('wake');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = once(this.worker, 'exit');
    this.#tell('close');
    await ended;
  }

  #read(): void {
    if (this.#isClosed) return;
    const { incoming } = this.rings;
    const isEmpty = incoming.read(AT_ONCE, this.ondatagram);
    if (!isEmpty || !incoming.sleep()) setImmediate(() => this.#read());
  }

  #tell(word: ThreadWord): void {
    this.worker.postMessage(word);
  }
}
