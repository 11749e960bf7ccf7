/**
 * Mounts the API on the server of apps/hub. It does not listen, and does not catch `upgrade`
 * itself.
 */
import 'reflect-metadata';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import type { FastifyInstance } from 'fastify';
import type {} from 'mercurius';
import { KeyFailures } from '../access/key-failures.js';
import { McpServer } from '../mcp/mcp-server.js';
import { viewOf } from '../api-context.js';
import { directClient, type ApiDeps } from '../api-deps.js';
import { ApiError } from '../errors/api-error.js';
import { ApiModule } from './api.module.js';
import { serveConsole, type SendPage } from '../console/serve-console.js';
import { makeHttpOperations, type HttpDeps } from './http-operations.js';
import { Admission } from '../limits/admission.js';
import { defaultApiLimits, type ApiLimits } from '../limits/api-limits.js';
import { discardRest } from '../limits/discard-rest.js';
import { MountedAdapter } from '../nest/mounted-adapter.js';
import { makeNestLog } from '../nest/nest-log.js';
import { auditExport } from '../rest/audit-export.js';
import { callExports } from '../rest/call-export.js';
import { firmwareUpload } from '../rest/firmware-upload.js';
import { jobResultRoutes } from '../rest/job-results.js';
import { catalogueRest } from '../rest/openapi/rest-catalogue.js';
import { serveRest } from '../rest/rest-routes.js';
import { uploadRoutes } from '../rest/upload-routes.js';
import { AgentCallers } from '../oauth/agent-callers.js';
import { refuseDiscovery, serveOauth } from '../oauth/oauth-routes.js';
import { oauthAddresses } from '../oauth/oauth-settings.js';
import { Callers } from '../sign-in/callers.js';
import { OidcSignIn } from '../sign-in/oidc-sign-in.js';
import { serveSignIn } from '../sign-in/sign-in-routes.js';
import { openSubscriptionServer } from '../subscriptions/subscription-server.js';

/** Bytes of a refused body that are read, so that its sender receives the answer. */
const surplusBytesMax = 16 * 1024 * 1024;

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

interface MountedApi {
  /** By path, for the process's one upgrade router. */
  readonly upgrades: ReadonlyMap<string, UpgradeListener>;
  /** For browsers at unknown addresses. Undefined if the console was not built. */
  readonly sendConsole: SendPage | undefined;
  /** Ends the subscriptions and what Nest made. The server is not ours to close. */
  close(): Promise<void>;
}

/** To be called before the server listens. */
export async function mountApi(server: FastifyInstance, deps: ApiDeps): Promise<MountedApi> {
  const limits = { ...defaultApiLimits, ...deps.limits };
  // First, because other subscribers check keys and sessions again after this notification.
  const stopForgetting = deps.feed.subscribe('access', () => {
    deps.registry.apiKeys.forget();
    deps.registry.userSessions.forget();
    deps.registry.agentGrants.forget();
  });
  const clientOf = deps.clientOf ?? directClient;
  const admission = new Admission(limits, deps.queries);
  const { signIns, people, publicUrl, logger } = deps;
  const isHttps = deps.isHttps === true || publicUrl?.startsWith('https:') === true;
  const isSecure = (request: IncomingMessage) => isHttps || clientOf(request).isSecure;
  const failures = deps.failures ?? new KeyFailures();
  const callers = new Callers({ apiKeys: deps.registry.apiKeys, signIns, publicUrl, isSecure, clientOf, failures });
  const addresses = deps.isOauthOff === true ? undefined : oauthAddresses(publicUrl);
  const { apiKeys } = deps.registry;
  const agents = new AgentCallers({ callers, apiKeys, grants: deps.grants, addresses, clientOf });
  const mcp = new McpServer({ ...deps, clientOf, agents, budget: admission.budget }, limits);
  const oidc = deps.oidc && new OidcSignIn(deps.oidc, logger);
  let app: INestApplication | undefined;
  let sendConsole: SendPage | undefined;
  // A separate scope: the hooks, parsers and error handling of the API do not apply to the gateway.
  await server.register(async (scope) => {
    scope.addHook('onError', async ({ raw }, reply) => {
      // Fastify closes the connection after a body that it refuses.
      if (reply.getHeader('connection') === 'close') await discardRest(raw, surplusBytesMax);
    });
    const openApi = catalogueRest(scope, isSecure);
    sendConsole = serveConsole(scope, deps.consoleFolder);
    serveSignIn(scope, { callers, signIns, people, oidc, publicUrl, isSecure, clientOf, now: Date.now });
    const rest = { ...limits, callers, budget: admission.budget };
    serveRest(scope, rest, [
      ...uploadRoutes({ ...deps, clientOf }),
      firmwareUpload(deps.firmware, clientOf),
      ...jobResultRoutes((viewer) => viewOf(deps.registry, viewer).jobs),
      ...callExports((viewer) => viewOf(deps.registry, viewer).calls),
      auditExport(deps.registry.audit),
      openApi,
    ]);
    mcp.mount(scope);
    if (addresses === undefined) refuseDiscovery(scope, deps.isOauthOff === true);
    else serveOauth(scope, { ...deps, addresses, callers, clientOf, now: Date.now });
    app = await startNest(scope, { ...deps, callers, admission, clientOf }, limits);
  });
  if (!app) throw new ApiError('INTERNAL', 'The API was mounted on a server that had already started.');
  const nest = app;
  const subscriptions = openSubscriptionServer({
    ...deps,
    limits,
    callers,
    admission,
    clientOf,
    schema: nest.get(GraphQLSchemaHost).schema,
  });
  return {
    upgrades: new Map([['/graphql', subscriptions.upgrade]]),
    sendConsole,
    close: async () => {
      stopForgetting();
      await mcp.close();
      await subscriptions.close();
      await nest.close();
    },
  };
}

async function startNest(scope: FastifyInstance, deps: HttpDeps, limits: ApiLimits): Promise<INestApplication> {
  const http = makeHttpOperations(deps, limits);
  const app = await NestFactory.create(
    ApiModule.over(deps, limits, { http, admission: deps.admission }),
    new MountedAdapter(scope),
    {
      logger: makeNestLog(deps.logger),
      bodyParser: false,
      abortOnError: false,
    },
  );
  await app.init();
  scope.graphql.addHook('preExecution', async (...operation) => http.beforeExecution(...operation));
  scope.graphql.addHook('onResolution', async (...answer) => http.beforeAnswer(...answer));
  return app;
}
