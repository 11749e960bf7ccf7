import { Validator } from '@seriousme/openapi-schema-validator';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '@flotilla/registry';
import { keyOf, openApi, type OpenApi } from '../../mount/mounted-api.suite.js';
import { openApiDocument } from './openapi-document.js';
import { catalogueRest } from './rest-catalogue.js';
import { routeDescriptions } from './route-descriptions.js';

let api: OpenApi;

beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

describe('the OpenAPI document', () => {
  it('is served to every key, regardless of its scopes', async () => {
    const ask = (headers: Record<string, string>) => fetch(`${api.httpUrl}/openapi.json`, { headers });
    expect((await ask({})).status).toBe(401);
    const response = await ask({ authorization: `Bearer ${keyOf(['EVENTS_READ'])}` });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const document = (await response.json()) as { paths: Record<string, Record<string, { description?: string }>> };
    expect(document.paths['/api/firmware']?.['post']?.description).toContain('`FIRMWARE_WRITE`');
    expect(await new Validator().validate(document)).toMatchObject({ valid: true });
  });

  it('is sound for every route that is described', async () => {
    const routes = [...routeDescriptions.keys()].map((key) => {
      const [method = '', url = ''] = key.split(' ');
      return { method, url, scope: undefined };
    });
    const validator = new Validator();
    const verdict = await validator.validate(openApiDocument(routes, routeDescriptions, 'flotilla-session'));
    expect(verdict.errors ?? []).toEqual([]);
    expect([verdict.valid, validator.version]).toEqual([true, '3.1']);
  });

  it('names the refusals of every closed route, and the parameters of an export', () => {
    const routes = [{ method: 'GET', url: '/api/calls.csv', scope: undefined }];
    const { paths } = openApiDocument(routes, routeDescriptions, 'flotilla-session') as unknown as {
      readonly paths: Record<string, { readonly get: { readonly responses: object; readonly parameters: object[] } }>;
    };
    const operation = paths['/api/calls.csv']?.get;
    expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '400', '401', '403', '429', '503']);
    const names = ['deviceId', 'tool', 'jobId', 'outcome', 'since', 'until'];
    expect(operation?.parameters).toMatchObject(names.map((name) => ({ name, in: 'query' })));
  });

  it('names the session cookie as the browser has it', async () => {
    const cookieFor = async (isSecure: boolean): Promise<unknown> => {
      const { handle } = catalogueRest(Fastify(), () => isSecure);
      let sent: unknown;
      const reply = { send: (document: unknown) => (sent = document) } as unknown as FastifyReply;
      await handle({ raw: {} } as FastifyRequest, reply, {} as Principal);
      return sent;
    };
    const named = (name: string) => ({ components: { securitySchemes: { session: { in: 'cookie', name } } } });
    expect(await cookieFor(false)).toMatchObject(named('flotilla-session'));
    expect(await cookieFor(true)).toMatchObject(named('__Host-flotilla-session'));
  });
});
