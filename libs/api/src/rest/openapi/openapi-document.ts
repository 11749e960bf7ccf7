/**
 * The REST routes as an OpenAPI 3.1 document, made from the routes of this process and
 * route-descriptions.ts.
 */
import type { Scope } from '@flotilla/registry';

/** By media type: a JSON Schema, empty for bytes. */
export type ContentDescription = Readonly<Record<string, object>>;

/** A parameter of the query, which may be left out. */
export interface QueryDescription {
  readonly name: string;
  readonly description?: string;
  readonly schema: object;
}

export interface OperationDescription {
  readonly summary: string;
  readonly description?: string;
  /** Whether the route needs no key. */
  readonly isOpen?: boolean;
  readonly query?: readonly QueryDescription[];
  readonly body?: ContentDescription;
  readonly answer: { readonly status: number; readonly description: string; readonly content?: ContentDescription };
  /** Statuses of refusals, beside those that every closed route has. */
  readonly refusals: readonly number[];
}

export interface ServedRoute {
  readonly method: string;
  readonly url: string;
  /** Undefined: any key will do, or none is wanted. */
  readonly scope: Scope | undefined;
}

/** Of the contract, not of the hub: a change that breaks a program raises the first number. */
const version = '1.0.0';

/** The key, its rights, its budget, and a hub that cannot check them. */
const closedRefusals: readonly number[] = [401, 403, 429, 503];

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is not understood.',
  401: 'No valid key or session.',
  403: 'The key or session may not do this.',
  404: 'There is nothing of this id.',
  413: 'The file is too large.',
  415: 'The file is of a kind that is not taken.',
  422: 'No device could use this file.',
  429: 'Too many requests or attempts; `Retry-After` says how long to wait.',
  503: 'The hub cannot do this now: try again later.',
};

export function openApiDocument(
  routes: readonly ServedRoute[],
  descriptions: ReadonlyMap<string, OperationDescription>,
  sessionCookie: string,
): Record<string, unknown> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const description = descriptions.get(`${route.method} ${route.url}`);
    if (description === undefined) continue;
    (paths[route.url.replace(/:(\w+)/g, '{$1}')] ??= {})[route.method.toLowerCase()] = operationOf(route, description);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Flotilla: files, exports and sign-in',
      version,
      description:
        'The few things that are awkward in GraphQL. Everything else is GraphQL at `/graphql`, ' +
        'which describes itself to every key.',
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie,
          description: 'The session of a person who signed in with a browser.',
        },
      },
      schemas: {
        Refusal: {
          type: 'object',
          required: ['code', 'message'],
          properties: { code: { type: 'string', examples: ['NOT_FOUND'] }, message: { type: 'string' } },
        },
      },
    },
  };
}

function operationOf(
  { method, url, scope }: ServedRoute,
  { summary, description, isOpen, query = [], body, answer, refusals }: OperationDescription,
): Record<string, unknown> {
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const parameters = [...inPath, ...query.map((parameter) => ({ ...parameter, in: 'query' }))];
  const statuses = [...new Set(isOpen === true ? refusals : [...closedRefusals, ...refusals])];
  const needed = scope === undefined ? undefined : `Needs the scope \`${scope}\`.`;
  return {
    operationId: operationIdOf(method, url),
    summary,
    ...(description === undefined && needed === undefined
      ? {}
      : { description: [description, needed].filter(Boolean).join(' ') }),
    ...(isOpen === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentOf(body) } }),
    responses: {
      [answer.status]: {
        description: answer.description,
        ...(answer.content === undefined ? {} : { content: contentOf(answer.content) }),
      },
      ...Object.fromEntries(statuses.map((status) => [status, refusalOf(status)])),
    },
  };
}

/** Such as getJobsIdResultsCsv. */
function operationIdOf(method: string, url: string): string {
  const words = url.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'api');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function contentOf(content: ContentDescription): object {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, Object.keys(schema).length === 0 ? {} : { schema }]),
  );
}

function refusalOf(status: number): object {
  return {
    description: meanings[status] ?? 'Refused.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
  };
}
