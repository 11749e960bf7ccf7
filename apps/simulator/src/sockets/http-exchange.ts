/**
 * Makes one HTTP request as the device's client does: new connection, no redirects, no compression,
 * bounded answers. [xiaozhi §6]
 */
import { createHash } from 'node:crypto';
import { request as plainRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppImageReader, type ImageVerdict } from '@flotilla/firmware';
import { AssetsReader, type AssetsVerdict, type HttpRequest, type HttpResponse } from '@flotilla/simulated-device';

/** How long a device waits for headers, and then for the body, ms. */
const WAIT_MS = 30_000;
/** A longer body blocks the task of a real device for ever; here it counts as no answer. */
const BODY_BYTES_MAX = 8_000;

const chunked = { 'Transfer-Encoding': 'chunked' };

interface ExchangeSettings {
  readonly localAddress: string | undefined;
  /** Authorities that the device trusts besides the public ones, PEM. */
  readonly ca: string | undefined;
  /** Pace of downloads; 0 is as fast as they come. */
  readonly bytesPerSecond: number;
  readonly signal: AbortSignal;
}

/** Rejects with an Error that says why there was no answer. */
export function exchange(
  { method, url, headers, body, download }: HttpRequest,
  { localAddress, ca, bytesPerSecond, signal }: ExchangeSettings,
): Promise<HttpResponse> {
  const isTls = url.startsWith('https://');
  const options: RequestOptions & { readonly ca?: string } = {
    method,
    headers: {
      ...headers,
      ...(typeof body === 'string' ? { 'Content-Length': Buffer.byteLength(body) } : chunked),
      Connection: 'close',
    },
    agent: false,
    signal,
    timeout: WAIT_MS,
    ...(localAddress !== undefined && { localAddress }),
    ...(isTls && ca !== undefined && { ca }),
  };
  return new Promise((resolve, reject) => {
    const request = (isTls ? tlsRequest : plainRequest)(url, options, (response) => {
      const about = {
        status: response.statusCode ?? 0,
        contentLength: lengthOf(response),
        contentType: response.headers['content-type'],
      };
      readAnswer(response, download, bytesPerSecond).then((rest) => resolve({ ...about, ...rest }), reject);
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${WAIT_MS} ms`)));
    request.on('error', reject);
    if (typeof body !== 'string') for (const part of body) request.write(part);
    request.end(typeof body === 'string' ? body : undefined);
  });
}

function lengthOf({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Nothing of a download is kept. */
async function readAnswer(
  response: IncomingMessage,
  download: HttpRequest['download'],
  bytesPerSecond: number,
): Promise<Pick<HttpResponse, 'body' | 'image' | 'assets'>> {
  if (download === undefined) return { body: await readBody(response) };
  if (download === 'half') await readHalf(response, bytesPerSecond);
  else if (download === 'image' && response.statusCode === 200)
    return { body: '', image: await readImage(paced(response, bytesPerSecond)) };
  else if (download === 'assets' && response.statusCode === 200)
    return { body: '', assets: await readAssets(paced(response, bytesPerSecond)) };
  else for await (const chunk of response) void chunk;
  return { body: '' };
}

/** Unread bytes stay at the hub, as with a device that writes to flash or has a poor network. */
async function* paced(response: IncomingMessage, bytesPerSecond: number): AsyncIterable<Buffer> {
  for await (const chunk of response as AsyncIterable<Buffer>) {
    yield chunk;
    if (bytesPerSecond > 0) await sleep((chunk.length / bytesPerSecond) * 1_000);
  }
}

/** Stops reading a file that is not an image. */
async function readImage(chunks: AsyncIterable<Buffer>): Promise<ImageVerdict> {
  const reader = new AppImageReader(createHash('sha256'));
  for await (const chunk of chunks) if (reader.push(chunk) !== undefined) break;
  return reader.end();
}

async function readAssets(chunks: AsyncIterable<Buffer>): Promise<AssetsVerdict> {
  const reader = new AssetsReader();
  for await (const chunk of chunks) reader.push(chunk);
  return reader.end();
}

/** Stops after half of the announced bytes; a shorter body ends the same way. */
async function readHalf(response: IncomingMessage, bytesPerSecond: number): Promise<never> {
  const halfBytes = (lengthOf(response) ?? 0) / 2;
  let bytes = 0;
  for await (const chunk of paced(response, bytesPerSecond)) {
    bytes += chunk.length;
    if (bytes >= halfBytes) break;
  }
  throw new Error(`the download broke off after ${bytes} bytes`);
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`an answer of more than ${BODY_BYTES_MAX} bytes, which hangs a device`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
