/**
 * Random HTTP requests as bytes: heads, OTA requests and multipart uploads, mostly nearly right.
 * The same random numbers give the same bytes.
 */
import type { FuzzDice } from './fuzz-dice.js';

const methods = ['GET', 'POST', 'HEAD', 'PUT', 'OPTIONS', 'BREW', ''];
const paths = [
  '/',
  '/ota',
  '/ota/',
  '/ota/x/activate',
  '/graphql',
  '/metrics',
  '/xiaozhi/v1/',
  '/mqtt',
  '/t/x',
  '/vision',
  '//',
  '/%',
  '*',
  '/\u00e4',
];
const headerNames = [
  'Host',
  'Content-Length',
  'Transfer-Encoding',
  'Upgrade',
  'Connection',
  'Device-Id',
  'Client-Id',
  'Authorization',
  'Expect',
  'Cookie',
];
const headerValues = [
  '',
  '0',
  '-1',
  '99999999999',
  'chunked',
  'chunked, chunked',
  'websocket',
  'Upgrade',
  'close',
  '02:00:00:00:09:01',
  '100-continue',
  '\u0000',
];
const boundary = '----ESP32_CAMERA_BOUNDARY';

export class FuzzHttp {
  constructor(private readonly dice: FuzzDice) {}

  /** A head of any kind, perhaps with something behind it. */
  head(): Buffer {
    const { dice } = this;
    const lines = Array.from({ length: dice.below(8) }, () => `${dice.pick(headerNames)}: ${dice.pick(headerValues)}`);
    if (dice.below(20) === 0) lines.push(`X: ${'x'.repeat(dice.below(40_000))}`);
    const start = `${dice.pick(methods)} ${dice.pick(paths)} HTTP/${dice.pick(['1.1', '1.0', '2', ''])}`;
    return this.#maybeBent(Buffer.from(`${[start, ...lines].join('\r\n')}\r\n\r\n`));
  }

  /**
   * What a device asks at boot, its headers and body by turns right, bent and strange. `body` is
   * some nearly right JSON.
   */
  ota(body: string): Buffer {
    const { dice } = this;
    const mac = dice.pick([
      '02:00:00:00:09:01',
      '02:00:00:00:09:99',
      'AA:BB:CC:DD:EE:FF',
      'lamp',
      '',
      `02:00:00:00:0b:${10 + dice.below(90)}`,
    ]);
    const description = dice.pick([
      body,
      `{"version":2,"mac_address":"${mac}","uuid":"u",` +
        `"board":{"name":"b","type":${body}},"application":{"version":${body}}}`,
      `{"board":{"ssid":"a"b"}}`,
      '['.repeat(dice.below(5_000)),
      '\u0000'.repeat(dice.below(9)),
    ]);
    const headers = [
      `Device-Id: ${mac}`,
      `Client-Id: ${dice.pick(['3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21', '', 'x'.repeat(dice.below(200))])}`,
      `User-Agent: ${dice.pick(['bread-compact-wifi/2.4.2', '/', 'x/y/z', '1'.repeat(400)])}`,
      `Activation-Version: ${dice.pick(['1', '2', '-'])}`,
    ].slice(0, 1 + dice.below(4));
    return this.#post(
      dice.pick(['/ota/', '/ota', '/ota/activate', '/ota/nolink/', '/ota/nolink/activate']),
      headers,
      Buffer.from(description),
    );
  }

  /** A picture as firmware uploads it, in chunks, or something like it. */
  multipart(path: string, headers: readonly string[], noise: Buffer): Buffer {
    const { dice } = this;
    const part = (name: string, more: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
    const body = Buffer.concat([
      Buffer.from(`${part('question', '')}\r\nwhat is this?\r\n`),
      Buffer.from(
        part(dice.pick(['file', 'file"', '', 'x'.repeat(300)]), '; filename="camera.jpg"') +
          'Content-Type: image/jpeg\r\n\r\n',
      ),
      Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
      noise,
      Buffer.from(`\r\n--${boundary}${dice.pick(['--\r\n', '\r\n', ''])}`),
    ]);
    return this.#post(
      path,
      [`Content-Type: multipart/form-data; boundary=${dice.pick([boundary, '', 'other'])}`, ...headers],
      body,
    );
  }

  #post(path: string, headers: readonly string[], body: Buffer): Buffer {
    const { dice } = this;
    const isChunked = dice.below(2) === 0;
    const length = isChunked
      ? 'Transfer-Encoding: chunked'
      : `Content-Length: ${body.length + dice.pick([0, 0, 0, -1, 1, 70_000])}`;
    const head = [`POST ${path} HTTP/1.1`, 'Host: hub', length, ...headers].join('\r\n');
    const framed = isChunked
      ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
      : body;
    return this.#maybeBent(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), framed]));
  }

  #maybeBent(bytes: Buffer): Buffer {
    return this.dice.below(4) === 0 ? this.dice.bent(bytes) : bytes;
  }
}
