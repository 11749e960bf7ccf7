/** Answers a request outside of GraphQL with an error. */
import type { FastifyReply } from 'fastify';
import { ApiError } from './api-error.js';
import { maskFault } from './public-errors.js';
import { waitHeaders } from './wait-headers.js';

export function sendRefusal(reply: FastifyReply, refusal: ApiError): FastifyReply {
  return reply
    .headers(waitHeaders(refusal))
    .code(refusal.statusCode)
    .send({ code: refusal.code, message: refusal.message });
}

/** An error that is not written for the caller is masked; the server's own hook logs it. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  return sendRefusal(reply, error instanceof ApiError ? error : maskFault(error));
}

/** What Fastify found wrong with a request, such as its body; undefined for all other errors. */
export function requestFaultOf(error: unknown): { readonly status: number; readonly message: string } | undefined {
  if (!(error instanceof Error) || error instanceof ApiError || !('statusCode' in error)) return undefined;
  const status = Number(error.statusCode);
  return status >= 400 && status < 500 ? { status, message: error.message } : undefined;
}
