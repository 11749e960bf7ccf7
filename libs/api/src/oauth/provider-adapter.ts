/** The storage of the OAuth library on the stores of the registry, without sessions. */
import type { AgentGrants } from '@flotilla/fleet';
import type { Artifact, Registry } from '@flotilla/registry';
import type { Adapter, Payload } from 'oidc-provider';

interface AdapterDeps {
  readonly registry: Pick<Registry, 'agentGrants' | 'oauth'>;
  readonly grants: Pick<AgentGrants, 'end'>;
  /** The audience of every grant. */
  readonly resource: string;
  readonly now: () => number;
  /** The route of the request under way, and where it came from. */
  readonly request: () => { readonly route: string | undefined; readonly remoteAddress: string | undefined };
  /** Thrown where a code or a refresh token is used twice at the same time. */
  readonly usedTwice: () => Error;
}

export function adapterOf(model: string, deps: AdapterDeps): Adapter {
  switch (model) {
    case 'Client':
      return { ...nothing, find: async (id) => withNote(deps, id) };
    case 'Grant':
      return {
        ...nothing,
        find: (id) => findGrant(deps, id),
        destroy: async (id) => {
          const { route, remoteAddress } = deps.request();
          await deps.grants.end(id, route === 'revocation' ? 'client' : 'token reuse', remoteAddress);
        },
      };
    // A person is recognised by the session of the console, at each request.
    case 'Session':
      return nothing;
    default:
      return artifacts(model, deps);
  }
}

const nothing: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};

function artifacts(
  kind: string,
  { registry: { oauth, agentGrants }, now, grants, request, usedTwice }: AdapterDeps,
): Adapter {
  return {
    ...nothing,
    upsert: (id, payload, expiresIn) => oauth.put(artifactOf(kind, id, payload, now() + (expiresIn ?? 0) * 1_000)),
    find: async (id) => {
      const found = await oauth.find(kind, id);
      if (found === undefined) return undefined;
      const { payload, consumedAt } = found;
      return { ...payload, jti: id, ...(consumedAt === undefined ? {} : { consumed: consumedAt }) };
    },
    consume: async (id) => {
      if (await oauth.consume(kind, id, now())) return;
      const grantId = (await oauth.find(kind, id))?.payload['grantId'];
      if (typeof grantId === 'string') await grants.end(grantId, 'token reuse', request().remoteAddress);
      throw usedTwice();
    },
    destroy: async (id) => {
      await oauth.remove(kind, id);
      if (kind === 'AccessToken') agentGrants.forget();
    },
    revokeByGrantId: (grantId) => oauth.removeOfGrant(kind, grantId),
  };
}

/** Without the secret, which the library repeats in `jti`. */
function artifactOf(kind: string, id: string, given: Payload, expiresAt: number): Artifact {
  const payload = Object.fromEntries(Object.entries(given).filter(([name]) => name !== 'jti'));
  const grantId = typeof payload['grantId'] === 'string' ? payload['grantId'] : undefined;
  return { kind, id, payload, grantId, expiresAt };
}

async function withNote({ registry: { oauth }, now, request }: AdapterDeps, id: string): Promise<Payload | undefined> {
  const metadata = await oauth.findClient(id);
  if (metadata === undefined) return undefined;
  if (request().route === 'authorization') await oauth.noteClientUse(id, now());
  return { ...metadata };
}

/** As the library stores a grant. */
async function findGrant({ registry, resource, now }: AdapterDeps, id: string): Promise<Payload | undefined> {
  const grant = await registry.agentGrants.find(id);
  if (grant === undefined || grant.revokedAt !== undefined || grant.expiresAt <= now()) return undefined;
  return {
    jti: id,
    kind: 'Grant',
    accountId: grant.userId,
    clientId: grant.clientId,
    iat: seconds(grant.createdAt),
    exp: seconds(grant.expiresAt),
    resources: { [resource]: grant.scopes.join(' ') },
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
