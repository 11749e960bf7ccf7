/**
 * The decision of a person about an authorization request. The page is in the console; its requests
 * come from pages of this hub, with the session of the person and the cookie of the request.
 */
import { agentScopes, shownName, type AgentGrants, type GrantRequest, type SignedInUser } from '@flotilla/fleet';
import type { FastifyRequest, FastifyReply } from 'fastify';
import type { Client, Interaction } from 'oidc-provider';
import type { ClientOf } from '../api-deps.js';
import { ApiError } from '../errors/api-error.js';
import { refuseUnfitInput } from '../limits/input-bounds.js';
import type { Callers } from '../sign-in/callers.js';
import { isLoopback } from './oauth-settings.js';
import type { OpenProvider } from './open-provider.js';

interface ConsentEndpointsDeps {
  readonly callers: Pick<Callers, 'ofRequest'>;
  readonly grants: Pick<AgentGrants, 'allow' | 'scopesOf' | 'limits'>;
  readonly clientOf: ClientOf;
  readonly opened: () => Promise<OpenProvider>;
}

/** Entries of a list of scopes; there are fewer. */
const SCOPES_MAX = 20;

type Decision =
  | { readonly decision: 'deny' }
  | {
      readonly decision: 'allow';
      readonly scopes: readonly string[];
      /** A device group; without it, all devices. */
      readonly groupId: string | undefined;
    };

type ConsentRequest = FastifyRequest<{ Params: { uid: string } }>;

interface Asked {
  readonly interaction: Interaction;
  readonly client: Client;
  readonly session: SignedInUser;
}

export class ConsentEndpoints {
  constructor(private readonly deps: ConsentEndpointsDeps) {}

  /** Who asks for what, for the page. */
  async show(request: ConsentRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { interaction, client, session } = await this.#asked(request, reply, false);
    const scopes = scopesIn(interaction);
    const available = (await this.deps.grants.scopesOf(session.user.id, agentScopes)) ?? [];
    const { host, isLocal } = destinationOf(interaction);
    return reply.send({
      client: {
        name: shownName(client.clientName ?? '', host),
        host,
        isLocal,
        isNamed: client.clientName !== undefined,
        document: client.clientId.startsWith('https:') ? client.clientId : null,
      },
      scopes: scopes.map((name) => ({ name, available: available.includes(name) })),
      days: Math.floor(this.deps.grants.limits.grantMs / 86_400_000),
      person: session.user.email ?? session.user.name,
    });
  }

  /** Answers with the address that the page goes to. */
  async decide(request: ConsentRequest, reply: FastifyReply): Promise<FastifyReply> {
    const decision = decisionIn(request.body);
    const asked = await this.#asked(request, reply, true);
    const { provider } = await this.deps.opened();
    const { result, returnTo } = asked.interaction;
    // A page that was sent twice: the first decision counts.
    if (result !== undefined) return reply.send({ redirectTo: returnTo });
    const outcome =
      decision.decision === 'deny'
        ? { error: 'access_denied', error_description: 'The person denied the request.' }
        : await this.#allow(asked, decision, request);
    return reply.send({ redirectTo: await provider.interactionResult(request.raw, reply.raw, outcome) });
  }

  async #allow(
    { interaction, client, session }: Asked,
    { scopes, groupId }: Extract<Decision, { decision: 'allow' }>,
    { raw }: ConsentRequest,
  ) {
    const requested = scopesIn(interaction);
    const { host } = destinationOf(interaction);
    const grant: GrantRequest = {
      clientId: client.clientId,
      clientName: client.clientName ?? '',
      clientHost: host,
      scopes: requested.filter((scope) => scopes.includes(scope)),
      devices: groupId === undefined ? undefined : { groupId },
    };
    const answer = await this.deps.grants.allow(session, grant, this.deps.clientOf(raw).address);
    if ('refusal' in answer) throw new ApiError('BAD_USER_INPUT', answer.refusal.message);
    const login = { accountId: session.user.id, remember: false };
    // Each prompt that a client may ask for is answered by the one decision.
    return { login, select_account: {}, consent: { grantId: answer.grant.id } };
  }

  /** Throws NOT_FOUND in another browser, and after the request has expired. */
  async #asked({ raw, params }: ConsentRequest, reply: FastifyReply, isChange: boolean): Promise<Asked> {
    const { session } = await this.deps.callers.ofRequest(raw, isChange);
    if (session === undefined)
      throw new ApiError('FORBIDDEN', 'Only a person who is signed in can connect an agent. Sign in without a key.');
    const { provider, library } = await this.deps.opened();
    const interaction = await provider.interactionDetails(raw, reply.raw).catch((error: unknown) => {
      if (error instanceof library.errors.OIDCProviderError) return undefined;
      throw error;
    });
    const clientId = interaction?.params['client_id'];
    const client = typeof clientId === 'string' ? await provider.Client.find(clientId) : undefined;
    if (interaction === undefined || interaction.uid !== params.uid || client === undefined)
      throw new ApiError('NOT_FOUND', 'This request has expired or was started in another browser. Start it again.');
    return { interaction, client, session };
  }
}

/** Throws BAD_USER_INPUT. */
function decisionIn(body: unknown): Decision {
  const given: Readonly<Record<string, unknown>> = typeof body === 'object' && body !== null ? { ...body } : {};
  const { decision, scopes, groupId } = given;
  if (decision === 'deny') return { decision };
  const isList = Array.isArray(scopes) && scopes.length <= SCOPES_MAX && scopes.every(isText);
  if (decision !== 'allow' || !isList || !(groupId === undefined || groupId === null || isText(groupId)))
    throw new ApiError('BAD_USER_INPUT', 'Send {"decision": "allow", "scopes": […]} or {"decision": "deny"}.');
  const allowed = { decision, scopes: scopes as readonly string[], groupId: groupId ?? undefined } as const;
  refuseUnfitInput(allowed);
  return allowed;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 100;
}

function scopesIn({ params }: Interaction) {
  const asked = String(params['scope'] ?? '').split(' ');
  return agentScopes.filter((scope) => asked.includes(scope));
}

/** Where the person is sent: the one thing about a client that is proven. */
function destinationOf({ params }: Interaction): { readonly host: string; readonly isLocal: boolean } {
  const url = new URL(String(params['redirect_uri']));
  if (isLoopback(url.hostname) && url.protocol === 'http:') return { host: 'localhost', isLocal: true };
  return url.protocol === 'https:' ? { host: url.host, isLocal: false } : { host: url.protocol, isLocal: true };
}
