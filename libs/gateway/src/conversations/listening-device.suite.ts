/** A device for specs of conversations: keeps what is said to it. */
import type { DeviceId, JsonObject } from '@flotilla/mcp';
import type { ConversingDevice, KnownDevice } from './conversation-host.js';

export class ListeningDevice implements ConversingDevice {
  readonly deviceId = '02:5e:7a:10:c4:9f' as DeviceId;
  readonly clientId = '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21';
  readonly remoteAddress = '127.0.0.1';
  readonly said: JsonObject[] = [];
  readonly frames: Uint8Array[] = [];
  readonly reports: JsonObject[] = [];
  readonly hangUps: string[] = [];
  /** How often the state of the device was read. A conversation that waits reads it repeatedly. */
  looks = 0;
  /** Larger messages are not accepted. */
  textBytesMax = Infinity;
  #unsentBytes = 0;
  /** Calls that wait or run. */
  calls = 0;
  device: KnownDevice = { info: { model: 'lamp', firmwareVersion: '2.4.2' }, tools: undefined };

  constructor(readonly localAddress: string | undefined = undefined) {}

  get unsentBytes(): number {
    this.looks += 1;
    return this.#unsentBytes;
  }

  set unsentBytes(bytes: number) {
    this.#unsentBytes = bytes;
  }

  known(): KnownDevice {
    this.looks += 1;
    return this.device;
  }

  pendingCalls(): number {
    return this.calls;
  }

  say(message: JsonObject): boolean {
    if (Buffer.byteLength(JSON.stringify(message)) > this.textBytesMax) return false;
    this.said.push(message);
    return true;
  }

  sendAudio(frame: Uint8Array): boolean {
    this.frames.push(frame);
    return true;
  }

  hangUp(reason: string): void {
    this.hangUps.push(reason);
  }

  report(data: JsonObject): void {
    this.reports.push(data);
  }
}
