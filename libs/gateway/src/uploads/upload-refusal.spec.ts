import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { ManualClock } from '@flotilla/session';
import { afterEach, describe, expect, it } from 'vitest';
import { drain } from '../read-body.js';
import { sendJson } from '../send-json.js';
import { receiveForm } from './receive-form.js';
import { defaultUploadLimits } from './upload-limits.js';
import { refusalAnswer, UploadRefusal } from './upload-refusal.js';
import { photoParts, post } from './upload-requests.suite.js';

/** Longer than a spec may take: an answer that waits for it fails. */
const limits = { ...defaultUploadLimits, silenceMaxMs: 600_000 };
const tooLarge = new UploadRefusal('REQUEST_TOO_LARGE', 'The picture is too large.');
let server: Server;

async function serve(take: (request: IncomingMessage) => Promise<unknown>): Promise<string> {
  server = createServer((request, response) => {
    void take(request)
      .catch(() => undefined)
      .then(() => drain(request, limits, new ManualClock(0)))
      .then(() => sendJson(response, refusalAnswer(tooLarge)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('the rest of a rejected body', () => {
  const parts = photoParts('?', Buffer.alloc(3 * 1024 * 1024));

  it('is read after a file that was rejected half-way', async () => {
    const keep = async (file: Readable) => {
      await once(file, 'data');
      file.destroy();
      throw tooLarge;
    };
    const url = await serve((request) => receiveForm(request, limits, keep));
    expect(await post(url, parts)).toMatchObject({ status: 413 });
  });

  it('is read where nothing was', async () => {
    const url = await serve(() => Promise.reject(tooLarge));
    expect(await post(url, parts)).toMatchObject({ status: 413 });
  });

  it('is read up to a limit', async () => {
    const url = await serve(() => Promise.reject(tooLarge));
    const endless = photoParts('?', Buffer.alloc(limits.surplusBytesMax + 1024 * 1024));
    expect(await post(url, endless, { after: 'leave' })).toMatchObject({ status: 413 });
  });
});
