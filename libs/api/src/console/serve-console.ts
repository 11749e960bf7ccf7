/**
 * Serves the web console at `/` from the folder of its build: index.html for its pages, and files
 * with hashed names below /assets. It contains no data of the fleet; the console reads that from
 * the API with the key or session of the viewer.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The page on which a person decides about an agent. */
const consentPath = '/oauth/consent/:uid';

/**
 * The paths of apps/dashboard/src/routes.tsx. Others stay 404, so that a mistyped API path is not a
 * page; a browser receives the console with it, which says so.
 */
const consolePaths = [
  '/',
  '/devices',
  '/devices/:id',
  '/jobs',
  '/jobs/:id',
  '/recurring',
  '/desired',
  '/desired/:id',
  '/desired/:id/edit',
  '/firmware',
  '/enrolments',
  '/calls',
  '/measurements',
  '/alerts',
  '/alerts/:id',
  '/events',
  '/explore',
  '/audit',
  '/access',
  consentPath,
  '/webhooks',
  '/settings',
] as const;

/** Marks the place of the nonce in the built index.html. */
const nonceMark = 'FLOTILLA_CSP_NONCE';

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const sharedHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** Agents on the web open this page in a window, and wait until it comes back to them. */
const openedByOthers = { 'cross-origin-opener-policy': 'unsafe-none' };

function openerOf(reply: FastifyReply) {
  return reply.hasHeader('cross-origin-opener-policy') ? openedByOthers : {};
}

/** Everything comes from the origin of the hub. Styles carry the nonce, and pictures are blobs. */
function pageHeaders(nonce: string) {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ];
  return { ...sharedHeaders, 'content-security-policy': policy.join('; '), 'cache-control': 'no-store' };
}

/** A built file with the copies that the build compressed. */
interface Asset {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

/** Answers with the console, which shows the page of the address, or that it does not exist. */
export type SendPage = (reply: FastifyReply) => FastifyReply;

/**
 * Does nothing without a build. Files are read once, because they do not change while the hub runs.
 */
export function serveConsole(server: FastifyInstance, folder: string | undefined): SendPage | undefined {
  if (folder === undefined || !existsSync(path.join(folder, 'index.html'))) return undefined;
  const [before = '', ...others] = readFileSync(path.join(folder, 'index.html'), 'utf8').split(nonceMark);
  const sendPage: SendPage = (reply) => {
    const nonce = randomBytes(16).toString('base64');
    return reply
      .headers({ ...pageHeaders(nonce), ...openerOf(reply) })
      .type('text/html; charset=utf-8')
      .send([before, ...others].join(nonce));
  };
  for (const url of consolePaths)
    server.get(url, (_request, reply) => sendPage(url === consentPath ? reply.headers(openedByOthers) : reply));
  const icon = readAsset(path.join(folder, 'flotilla.svg'));
  server.get('/flotilla.svg', (request, reply) => send(request, reply, icon, 'public, max-age=86400'));
  const assets = readAssets(path.join(folder, 'assets'));
  server.get<{ Params: { '*': string } }>('/assets/*', (request, reply) =>
    send(request, reply, assets.get(request.params['*']), 'public, max-age=31536000, immutable'),
  );
  return sendPage;
}

function readAssets(folder: string): ReadonlyMap<string, Asset> {
  const names = readdirSync(folder).filter((name) => contentTypes[path.extname(name)] !== undefined);
  return new Map(names.map((name) => [name, readAsset(path.join(folder, name))]));
}

function readAsset(file: string): Asset {
  const readIfThere = (name: string) => (existsSync(name) ? readFileSync(name) : undefined);
  return {
    contentType: contentTypes[path.extname(file)] ?? 'application/octet-stream',
    bytes: readFileSync(file),
    br: readIfThere(`${file}.br`),
    gzip: readIfThere(`${file}.gz`),
  };
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset | undefined,
  cacheControl: string,
): FastifyReply {
  if (!asset) {
    reply.callNotFound();
    return reply;
  }
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const encoding = (['br', 'gzip'] as const).find(
    (name) => asset[name] !== undefined && new RegExp(`\\b${name}\\b`).test(accepted),
  );
  reply.headers({ ...sharedHeaders, 'cache-control': cacheControl, vary: 'accept-encoding' }).type(asset.contentType);
  if (encoding === undefined) return reply.send(asset.bytes);
  return reply.header('content-encoding', encoding).send(asset[encoding]);
}
