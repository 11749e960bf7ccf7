import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { refuseDiscovery } from './oauth-routes.js';

it.each([
  [false, 'FLOTILLA_PUBLIC_URL'],
  [true, 'FLOTILLA_OAUTH'],
])('an agent that looks for OAuth gets the name of the setting (off: %s)', async (isOff, setting) => {
  const server = Fastify();
  refuseDiscovery(server, isOff);
  for (const name of ['oauth-protected-resource', 'oauth-protected-resource/mcp', 'oauth-authorization-server']) {
    const answer = await server.inject(`/.well-known/${name}`);
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining(setting) });
  }
  await server.close();
});
