/** GraphQL requests over HTTP with any body and headers. */
import { request } from 'node:http';
import type { HubProcess } from '../hub/hub-process.js';
import type { GraphqlAnswer } from './graphql-client.js';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: GraphqlAnswer;
}

export function rawRequest(
  hub: Pick<HubProcess, 'adminKey' | 'httpUrl'>,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  { method = 'POST', path = '/graphql' }: { readonly method?: string; readonly path?: string } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${hub.adminKey}`, 'content-type': 'application/json', ...headers };
    const sent = request(`${hub.httpUrl}${path}`, { method, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: JSON.parse(text) as GraphqlAnswer,
        });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
