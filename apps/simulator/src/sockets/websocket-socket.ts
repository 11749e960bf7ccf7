/**
 * A device's WebSocket connection: the firmware's handshake headers, text frames, no close frame.
 * [xiaozhi §1.2, §1.5]
 */
import { WebSocket } from 'ws';
import type { DeviceIdentity } from '@flotilla/simulated-device';
import { decodeAudioFrame, encodeAudioFrame } from '@flotilla/voice';
import type { FramingVersion } from '@flotilla/voice';
import type { DeviceSocket, DeviceSocketEvents, Loss, SocketTarget } from './device-socket.js';

const HANDSHAKE_WAIT_MS = 10_000;
/** What a device takes from the hub in one frame. */
const FRAME_BYTES_MAX = 64 * 1024;
/**
 * Bytes that wait for a slow hub at most; more messages are lost, as on a device with a full
 * buffer.
 */
const SEND_BYTES_MAX = 256 * 1024;
const REFUSED_STATUS: readonly (number | undefined)[] = [401, 403];

interface WebSocketLogin {
  readonly path: string;
  /** Besides the token's. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as it is where it contains a space, and as a bearer token otherwise. */
  readonly token: string | undefined;
  /** Framing of audio: 1, 2 or 3; 1 by default. */
  readonly version?: number;
}

export class WebSocketSocket implements DeviceSocket {
  readonly #socket: WebSocket;
  #isOpen = false;
  #isOver = false;
  #failure: Loss | undefined;

  constructor(
    target: SocketTarget,
    private readonly login: WebSocketLogin,
    private readonly events: DeviceSocketEvents,
  ) {
    this.#socket = new WebSocket(`${target.isTls ? 'wss' : 'ws'}://${target.host}:${target.port}${login.path}`, {
      headers: { Host: target.host, ...headersOf(login) },
      handshakeTimeout: HANDSHAKE_WAIT_MS,
      maxPayload: FRAME_BYTES_MAX,
      perMessageDeflate: false,
      ...(target.localAddress !== undefined && { localAddress: target.localAddress }),
      ...(target.ca !== undefined && { ca: target.ca }),
    });
    this.#socket.on('open', () => this.#opened());
    this.#socket.on('message', (data, isBinary) => {
      if (this.#isOver) return;
      if (!isBinary) events.onmessage(String(data));
      else if (Buffer.isBuffer(data)) this.#hear(data);
    });
    this.#socket.on('unexpected-response', (_request, response) => {
      const kind = REFUSED_STATUS.includes(response.statusCode) ? 'refused' : 'unreachable';
      this.#failure = { kind, detail: `HTTP ${response.statusCode ?? 'without status'}` };
      this.#socket.terminate();
    });
    this.#socket.on(
      'error',
      (error) => (this.#failure ??= { kind: this.#isOpen ? 'lost' : 'unreachable', detail: error.message }),
    );
    this.#socket.on('close', () => this.#end(this.#failure ?? { kind: 'lost', detail: 'closed by the hub' }));
  }

  send(text: string): void {
    if (this.#socket.bufferedAmount <= SEND_BYTES_MAX) this.#socket.send(text);
  }

  sendAudio(packet: Uint8Array): void {
    if (this.#socket.bufferedAmount <= SEND_BYTES_MAX)
      this.#socket.send(encodeAudioFrame(this.#framing, { payload: packet, timestamp: 0 }));
  }

  /** A device always destroys its socket: no close frame, no goodbye. */
  close(how: 'graceful' | 'abrupt' | 'silent'): void {
    this.#isOver = true;
    if (how === 'silent') this.#socket.pause();
    else this.#socket.terminate();
  }

  get #framing(): FramingVersion {
    const { version } = this.login;
    return version === 2 || version === 3 ? version : 1;
  }

  #hear(frame: Uint8Array): void {
    const decoded = decodeAudioFrame(this.#framing, frame);
    if (decoded.ok) this.events.onaudio?.(decoded.packet.payload);
  }

  #opened(): void {
    this.#isOpen = true;
    this.events.onopen();
  }

  #end(loss: Loss): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.events.onloss(loss);
  }
}

function headersOf({ headers, token }: WebSocketLogin): Record<string, string> {
  return { ...(token !== undefined && { Authorization: token.includes(' ') ? token : `Bearer ${token}` }), ...headers };
}

/** What the firmware says of itself. */
export function xiaozhiLogin(
  { mac, uuid }: DeviceIdentity,
  { path, token, version }: { readonly path: string; readonly token: string | undefined; readonly version: number },
): WebSocketLogin {
  return {
    path,
    token,
    version,
    headers: { 'Protocol-Version': String(version), 'Device-Id': mac, 'Client-Id': uuid },
  };
}
