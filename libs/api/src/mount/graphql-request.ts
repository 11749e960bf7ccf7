/**
 * Checks GraphQL requests over HTTP before Mercurius reads them: Mercurius accepts more than the
 * API promises, and explains less.
 */
import { errorCodes, type FastifyRequest } from 'fastify';
import { getOperationAST, Kind, parse, type DocumentNode } from 'graphql';
import { isJsonObject, type JsonObject } from '@flotilla/mcp';
import { ApiError } from '../errors/api-error.js';
import type { RawOperation } from '../limits/admission.js';

/** Better messages for errors of Fastify, by code. */
export function bodyMessages(requestBytesMax: number): ReadonlyMap<unknown, string> {
  return new Map([
    [
      'FST_ERR_CTP_INVALID_JSON_BODY',
      'The body is not valid JSON, or it has a member "__proto__" or "constructor.prototype", which is refused.',
    ],
    ['FST_ERR_CTP_EMPTY_JSON_BODY', 'The body is empty. Send JSON with "query".'],
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'A request is JSON. Send it with "Content-Type: application/json".'],
    ['FST_ERR_CTP_BODY_TOO_LARGE', `The body is too large: at most ${requestBytesMax} bytes.`],
  ]);
}

/** Mercurius accepts other types, and pages of other sites can send some without a preflight. */
export function refuseOtherThanJson({ headers, method }: FastifyRequest): void {
  const type = headers['content-type'];
  if (method === 'POST' && type !== undefined && !/^application\/json\s*(;|$)/i.test(type))
    throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type);
}

/** Checks the request, and fills in the document that it names by hash. */
export function prepareRequest(
  request: FastifyRequest,
  documentOf: (named: RawOperation) => string | undefined,
  maxTokens: number,
): void {
  const source = parametersOf(request);
  if (!isJsonObject(source))
    throw refused('The body is one JSON object with "query" and "variables"; batches are not supported.');
  // GraphQL over HTTP allows null, Mercurius does not.
  if (source['extensions'] === null) Reflect.deleteProperty(source, 'extensions');
  if (request.method !== 'GET') refuseOtherTypes(source);
  const { query, extensions, variables }: RawOperation = source;
  const named = { query, extensions: parsed('extensions', extensions), variables: parsed('variables', variables) };
  const document = documentOf(named) ?? query;
  if (document === undefined || document === null || document === '')
    throw refused('There is no "query". Send the text of a GraphQL document, with its "variables".');
  // After the look-up by hash, because another caller may have registered the document.
  if (typeof document !== 'string' || jsonStart.test(document))
    throw refused('Syntax Error: "query" must be the text of a GraphQL document.');
  if (request.method === 'GET') refuseUnknownOperation(document, operationNameIn(request), maxTokens);
  Object.assign(source, { query: document });
}

/**
 * For GET, Mercurius reads the kind of the operation before it checks that there is one. It finds
 * errors of syntax, and documents without any operation, itself.
 */
function refuseUnknownOperation(source: string, name: string | undefined, maxTokens: number): void {
  let document: DocumentNode;
  try {
    document = parse(source, { maxTokens });
  } catch {
    return;
  }
  const hasAny = document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (!hasAny || getOperationAST(document, name)) return;
  throw refused(
    name === undefined
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${name}".`,
  );
}

/** Mercurius does not pass the name of the selected operation to its hooks. */
export function operationNameIn(request: FastifyRequest): string | undefined {
  const source = parametersOf(request);
  const name = isJsonObject(source) ? source['operationName'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** How JSON begins and a GraphQL operation cannot: Mercurius would run a syntax tree as JSON. */
const jsonStart = /^\s*(?:\{\s*["}]|[["\-\d]|(?:true|false|null)\s*$)/;

function parametersOf({ method, query, body }: FastifyRequest): unknown {
  return method === 'GET' ? query : body;
}

/** Fastify would convert values of other types. */
function refuseOtherTypes({ operationName = null, variables = null }: JsonObject): void {
  if (operationName !== null && typeof operationName !== 'string') throw refused('"operationName" must be text.');
  if (variables !== null && !isJsonObject(variables)) throw refused('"variables" must be a JSON object.');
}

/** Extensions and variables of GET requests are JSON texts. */
function parsed(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || value === '') return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    throw refused(`"${name}" must be JSON.`, error);
  }
}

function refused(message: string, cause?: unknown): ApiError {
  return new ApiError('BAD_USER_INPUT', message, cause);
}
