/** Pictures as files: people upload one to show it on a device, and look at those that are kept. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UploadRow } from '@flotilla/registry';
import { sourceOfRequest, viewOf } from '../api-context.js';
import type { ApiDeps, ClientOf } from '../api-deps.js';
import { ApiError } from '../errors/api-error.js';
import type { RestRoute } from './rest-routes.js';
import { uploadUrl } from './upload-urls.js';

/** Types that browsers show as pictures and as nothing else; anything other is a file to save. */
const pictureTypes: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/webp', 'webp'],
  ['image/gif', 'gif'],
]);

type UploadRoutesDeps = Pick<ApiDeps, 'pictures' | 'registry'> & { readonly clientOf: ClientOf };

export function uploadRoutes({ pictures, registry, clientOf }: UploadRoutesDeps): readonly RestRoute[] {
  const send = async (
    reply: FastifyReply,
    upload: UploadRow,
    key: string,
    contentType: string,
  ): Promise<FastifyReply> => {
    const blob = await pictures.read(key);
    if (blob === undefined) throw notFound(upload.id);
    return reply.headers(headersOf(upload.id, contentType, blob.sizeBytes)).send(blob.body);
  };
  return [
    {
      method: 'POST',
      url: '/api/uploads',
      // An uploaded picture is shown by a user-only tool, so the upload needs the same scope.
      scope: 'TOOLS_CALL_PRIVILEGED',
      handle: async (request, reply, viewer) => {
        const taken = await pictures.take(request.raw);
        if ('status' in taken) return reply.code(taken.status).send({ code: taken.code, message: taken.message });
        const { id, kind, contentType, sizeBytes, sha256, at } = taken;
        const by = sourceOfRequest({ viewer, remoteAddress: clientOf(request.raw).address });
        await registry.audit.record({
          ...by,
          action: 'upload.added',
          subject: `upload:${id}`,
          data: { kind, contentType, sizeBytes, sha256 },
          at,
        });
        const shown = { id, kind, contentType, sizeBytes, sha256, at: new Date(at).toISOString(), url: uploadUrl(id) };
        return reply.code(201).header('location', uploadUrl(id)).send(shown);
      },
    },
    {
      method: 'GET',
      url: '/api/uploads/:id',
      scope: 'DEVICES_READ',
      handle: async (request, reply, viewer) => {
        const upload = await viewOf(registry, viewer).uploads.find(idOf(request));
        if (upload === undefined) throw notFound(idOf(request));
        return send(reply, upload, upload.storageKey, upload.contentType);
      },
    },
    {
      method: 'GET',
      url: '/api/uploads/:id/thumbnail',
      scope: 'DEVICES_READ',
      handle: async (request, reply, viewer) => {
        const upload = await viewOf(registry, viewer).uploads.find(idOf(request));
        if (upload?.thumbnailKey === undefined) throw notFound(idOf(request));
        return send(reply, upload, upload.thumbnailKey, 'image/jpeg');
      },
    },
  ];
}

/** Untrusted bytes: browsers must not guess their type or run them, nor proxies cache them. */
function headersOf(id: string, contentType: string, sizeBytes: number): Record<string, string | number> {
  const ending = pictureTypes.get(contentType);
  return {
    'content-type': ending === undefined ? 'application/octet-stream' : contentType,
    'content-length': sizeBytes,
    'content-disposition': ending === undefined ? 'attachment' : `inline; filename="${id}.${ending}"`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'private, max-age=3600',
  };
}

function idOf({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
}

function notFound(id: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no upload "${id.slice(0, 100)}" with this file.`);
}
