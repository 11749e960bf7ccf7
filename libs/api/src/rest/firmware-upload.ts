/**
 * `POST /api/firmware`: one firmware image as a multipart form with the field `file`. Answers 201
 * `{"id"}`, or 4xx `{"code","message"}` and keeps nothing.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ImageUpload, UploadRefusal } from '@flotilla/fleet';
import type { Principal } from '@flotilla/registry';
import { actorOf } from '../api-context.js';
import type { ClientOf } from '../api-deps.js';
import { ApiError } from '../errors/api-error.js';
import type { FirmwareOperations } from '../fleet-operations.js';
import { readForm } from './read-form.js';
import type { RestRoute } from './rest-routes.js';

const knownFields = new Set(['kind', 'version', 'signature']);

export function firmwareUpload(firmware: Pick<FirmwareOperations, 'upload'>, clientOf: ClientOf): RestRoute {
  return {
    method: 'POST',
    url: '/api/firmware',
    scope: 'FIRMWARE_WRITE',
    isFleetWide: true,
    handle: async ({ raw }: FastifyRequest, reply: FastifyReply, viewer: Principal) => {
      const actor = actorOf({ viewer, remoteAddress: clientOf(raw).address });
      const answer = await readForm(raw, async (fields, file) =>
        firmware.upload({ ...uploadOf(fields), ...file }, actor),
      );
      if ('refusal' in answer) return reply.code(statusOf(answer.refusal)).send(answer.refusal);
      return reply.code(201).send({ id: answer.image.id });
    },
  };
}

function uploadOf(fields: ReadonlyMap<string, string>): Pick<ImageUpload, 'kind' | 'version' | 'signature'> {
  const unknown = [...fields.keys()].find((name) => !knownFields.has(name));
  if (unknown !== undefined)
    throw new ApiError(
      'BAD_USER_INPUT',
      `There is no field "${unknown}": the fields beside the file are "kind", "version" and "signature".`,
    );
  const kind = fields.get('kind') ?? 'FIRMWARE';
  if (kind !== 'FIRMWARE' && kind !== 'ASSETS')
    throw new ApiError('BAD_USER_INPUT', `"kind" is FIRMWARE or ASSETS, not "${kind}".`);
  return { kind, version: fields.get('version'), signature: fields.get('signature') };
}

function statusOf({ code }: UploadRefusal): number {
  if (code === 'TOO_LARGE') return 413;
  return code === 'INVALID' ? 400 : 422;
}
