import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, openApi, type OpenApi } from '../../mount/mounted-api.suite.js';
import { openApiDocument } from './openapi-document.js';
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
    const verdict = await validator.validate(openApiDocument(routes, routeDescriptions));
    expect(verdict.errors ?? []).toEqual([]);
    expect([verdict.valid, validator.version]).toEqual([true, '3.1']);
  });
});
