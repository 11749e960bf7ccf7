import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpenAiVision } from './openai-vision.js';

/** How the model handles the next request. */
let behave: (request: IncomingMessage, response: ServerResponse) => void;
let origin: string;
const server = createServer((request, response) => behave(request, response));

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const photo = { question: 'what is it?', contentType: 'image/jpeg', picture: Buffer.from('picture') };

function ask(path = '', withinMs = 2_000): Promise<string> {
  const vision = new OpenAiVision({ url: origin + path, key: 'secret', model: 'eyes-1' });
  return vision.answer(photo, AbortSignal.timeout(withinMs));
}

function answer(response: ServerResponse, content: unknown): void {
  response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
}

describe('a vision model', () => {
  it.each([
    ['', '/v1/chat/completions'],
    ['/', '/v1/chat/completions'],
    ['/v1', '/v1/chat/completions'],
    ['/api/paas/v4/', '/api/paas/v4/chat/completions'],
    ['/v1/chat/completions', '/v1/chat/completions'],
  ])('at "%s" is asked at %s, with the question and the picture', async (given, expected) => {
    let asked: unknown;
    behave = async (request, response) => {
      asked = { url: request.url, key: request.headers.authorization, body: await json(request) };
      answer(response, ' A red mug. ');
    };
    expect(await ask(given)).toBe('A red mug.');
    const image = {
      type: 'image_url',
      image_url: { url: `data:image/jpeg;base64,${photo.picture.toString('base64')}` },
    };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'what is it?' }, image] }];
    expect(asked).toMatchObject({ url: expected, key: 'Bearer secret', body: { model: 'eyes-1', messages } });
  });

  it.each<[string, string, typeof behave]>([
    [
      'refuses',
      'status 401',
      (_request, response) => response.writeHead(401).end('{"error":"your key secret is wrong"}'),
    ],
    ['fails', 'status 500', (_request, response) => response.writeHead(500).end('oops')],
    [
      'redirects',
      'could not be asked',
      (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    ['answers no JSON', 'not a chat completion', (_request, response) => response.end('<html>')],
    ['answers nothing', 'not a chat completion', (_request, response) => answer(response, '  ')],
    ['answers parts', 'not a chat completion', (_request, response) => answer(response, [{ type: 'text' }])],
    ['answers null', 'not a chat completion', (_request, response) => response.end('null')],
    ['has no choice', 'not a chat completion', (_request, response) => response.end('{"choices":[]}')],
    ['cuts the connection', 'could not be asked', (request) => request.socket.destroy()],
    [
      'breaks off',
      'could not be asked',
      (_request, response) => response.write('{"choices"', () => response.destroy()),
    ],
    ['goes on and on', 'too long', (_request, response) => response.end('x'.repeat(300_000))],
  ])('that %s is an error without secrets', async (_what, message, misbehave) => {
    behave = misbehave;
    const error = await ask().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'VISION_FAILED', message: expect.stringContaining(message) });
    expect(String(error)).not.toContain('secret');
  });

  it.each<[string, typeof behave]>([
    ['never answers', () => undefined],
    ['begins to answer and stops', (_request, response) => response.write('{"choi')],
  ])('that %s times out', async (_what, misbehave) => {
    behave = misbehave;
    await expect(ask('', 200)).rejects.toMatchObject({ message: 'The vision model did not answer in time.' });
  });

  it('that cannot be reached is an error', async () => {
    const nowhere = new OpenAiVision({ url: 'http://127.0.0.1:1', key: undefined, model: 'x' });
    await expect(nowhere.answer(photo, AbortSignal.timeout(2_000))).rejects.toMatchObject({ code: 'VISION_FAILED' });
  });
});
