/** The page at `/`: where things are, for whoever opens the hub in a browser. No script, no key, nothing about this hub's fleet. */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

/** Beside `src` and `dist` alike. */
const folder = new URL('../pages/', import.meta.url);

const headers = {
  'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

export function serveLandingPage(server: FastifyInstance): void {
  const html = readFileSync(new URL('landing.html', folder), 'utf8');
  const css = readFileSync(new URL('landing.css', folder), 'utf8');
  server.get('/', (_request, reply) => reply.headers(headers).type('text/html; charset=utf-8').send(html));
  server.get('/landing.css', (_request, reply) => reply.headers(headers).type('text/css; charset=utf-8').send(css));
}
