/** What a browser gets at `/`, over a folder as the build of the console leaves one. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveConsole } from './serve-console.js';

describe('the console', () => {
  let folder: string;
  let server: FastifyInstance;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'flotilla-console-'));
    await mkdir(path.join(folder, 'assets'));
    const files = {
      'index.html': '<meta nonce="FLOTILLA_CSP_NONCE">',
      'flotilla.svg': '<svg/>',
      'assets/index-abc.js': 'let a;',
      'assets/index-abc.js.br': brotliCompressSync('let a;'),
    };
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
    server = Fastify();
    serveConsole(server, folder);
  });

  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it.each(['/', '/devices', '/devices/02:00:00:00:00:01', '/jobs?states=RUNNING'])('is one page at %s', async (url) => {
    const answer = await server.inject(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  });

  it.each([
    '/api/devices',
    '/nothing',
    '/devices/a/b',
    '/index.html',
    '/assets/index-abc.js.br',
    '/assets/../index.html',
    '/assets/',
  ])('is not at %s', async (url) => {
    expect((await server.inject(url)).statusCode).toBe(404);
  });

  it('allows only its own resources, and styles with the nonce of the answer', async () => {
    const [first, second] = [await server.inject('/'), await server.inject('/')];
    const policy = String(first.headers['content-security-policy']);
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(first.body).toBe(`<meta nonce="${nonce}">`);
    expect(second.headers['content-security-policy']).not.toBe(policy);
    expect(first.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  });

  it('sends files that never change compressed, to those that can read it', async () => {
    const asset = (encoding: string) =>
      server.inject({ url: '/assets/index-abc.js', headers: { 'accept-encoding': encoding } });
    const compressed = await asset('gzip, deflate, br');
    expect(compressed.headers).toMatchObject({
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    const plain = await asset('identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.body).toBe('let a;');
  });

  it('is not served without a build', async () => {
    const bare = Fastify();
    serveConsole(bare, path.join(folder, 'nowhere'));
    expect((await bare.inject('/')).statusCode).toBe(404);
    await bare.close();
  });
});
