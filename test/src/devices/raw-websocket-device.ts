/**
 * A device's end of a WebSocket, frame by frame: sends the hello and answers as firmware unless
 * the test says otherwise.
 */
import { once } from 'node:events';
import { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { webSocketHeaders } from './device-credentials.js';
import { eventually } from '../eventually.js';
import { answerAsFirmware } from './firmware.js';
import type { HubProcess } from '../hub/hub-process.js';

type Hub = Pick<HubProcess, 'httpPort' | 'deviceSecret'>;

export const webSocketHello = JSON.stringify({
  type: 'hello',
  version: 1,
  features: { mcp: true },
  transport: 'websocket',
  audio_params: { format: 'opus', sample_rate: 16_000, channels: 1, frame_duration: 60 },
});

export class RawWebSocketDevice {
  /** Received texts; audio is read from the socket. */
  readonly messages: string[] = [];
  /** Code of the close frame; 1006 without a frame. */
  closeCode: number | undefined;
  answer: (text: string) => string | undefined = (text) => answerAsFirmware(text);

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data, isBinary) => {
      if (isBinary) return;
      // ws passes text frames as Buffers by default.
      const text = Buffer.isBuffer(data) ? data.toString() : '';
      this.messages.push(text);
      const reply = this.answer(text);
      if (reply !== undefined) this.say(reply);
    });
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      this.closeCode = code;
    });
  }

  /** An upgraded connection on which nothing was said yet. */
  static async dial(hub: Hub, mac: string, more: Readonly<Record<string, string>> = {}): Promise<RawWebSocketDevice> {
    const headers = { ...webSocketHeaders(hub.deviceSecret, mac), ...more };
    const socket = new WebSocket(`ws://127.0.0.1:${hub.httpPort}/xiaozhi/v1/`, { headers, perMessageDeflate: false });
    const device = new RawWebSocketDevice(socket);
    await once(socket, 'open');
    return device;
  }

  /** A conversation: the hello was said and answered. */
  static async connect(hub: Hub, mac: string): Promise<RawWebSocketDevice> {
    const device = await RawWebSocketDevice.dial(hub, mac);
    device.say(webSocketHello);
    await eventually(
      () => device.messages.length,
      (count) => count > 0,
    );
    return device;
  }

  say(text: string): void {
    this.socket.send(text);
  }

  /** Writes past ws, which would refuse to send what breaks the rules. */
  writeBytes(bytes: Buffer): void {
    const inner: unknown = Reflect.get(this.socket, '_socket');
    if (!(inner instanceof Socket)) throw new Error('ws keeps its socket elsewhere.');
    inner.write(bytes);
  }

  /** Breaks the connection without a close frame, as these devices do. */
  drop(): void {
    this.socket.terminate();
  }

  get isClosed(): boolean {
    return this.closeCode !== undefined;
  }

  async closed(withinMs = 5_000): Promise<number> {
    return (await eventually(
      () => this.closeCode,
      (code) => code !== undefined,
      withinMs,
    )) as number;
  }
}
