/** Writes uploads as devices do, byte by byte, for specs: chunked multipart over a plain socket. */
import { request as httpRequest } from 'node:http';
import sharp from 'sharp';

export interface Reply {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Record<string, unknown>;
}

const boundary = '----ESP32_CAMERA_BOUNDARY';

/** A valid JPEG, a little different for each shade. */
export function jpeg(shade = 100): Promise<Buffer> {
  const create = { width: 640, height: 480, channels: 3 as const, background: { r: shade, g: 80, b: 60 } };
  return sharp({ create }).jpeg().toBuffer();
}

/** The parts in the firmware's order. */
export function photoParts(question: string, picture: Buffer): readonly Buffer[] {
  return [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="question"\r\n\r\n${question}\r\n`),
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="camera.jpg"\r\n` +
        'Content-Type: image/jpeg\r\n\r\n',
    ),
    picture,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ];
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * After the last part: `leave` sends no end and waits for the answer, `cut` ends the connection.
   */
  readonly after?: 'end' | 'leave' | 'cut';
}

export function post(
  url: string,
  parts: readonly Buffer[],
  { headers = {}, after = 'end' }: Sending = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const type = { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Transfer-Encoding': 'chunked' };
    const sending = httpRequest(url, { method: 'POST', agent: false, headers: { ...type, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
        resolve({ status: response.statusCode ?? 0, contentType: response.headers['content-type'], body });
      });
    });
    sending.on('error', reject);
    for (const part of parts) sending.write(part);
    if (after === 'end') sending.end();
    else if (after === 'cut') setTimeout(() => sending.destroy(), 50);
  });
}
