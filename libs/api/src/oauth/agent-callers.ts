/** Who asks at `/mcp`: a program with its API key, or an agent with an access token. */
import type { IncomingMessage } from 'node:http';
import type { AgentGrants } from '@flotilla/fleet';
import type { ApiKeys, OpenCheck, Principal } from '@flotilla/registry';
import { bearerKey } from '../access/authentication.js';
import type { ClientOf } from '../api-deps.js';
import type { Callers } from '../sign-in/callers.js';
import { TokenRefused } from './challenge.js';
import type { OauthAddresses } from './oauth-settings.js';

interface AgentCallersDeps {
  readonly callers: Pick<Callers, 'ofKeyIn' | 'counted'>;
  readonly apiKeys: Pick<ApiKeys, 'authenticate'>;
  readonly grants: Pick<AgentGrants, 'whoIs'>;
  /** Undefined: only keys count. */
  readonly addresses: OauthAddresses | undefined;
  readonly clientOf: ClientOf;
}

export class AgentCallers {
  readonly addresses: OauthAddresses | undefined;
  readonly #deps: AgentCallersDeps;

  constructor(deps: AgentCallersDeps) {
    this.#deps = deps;
    this.addresses = deps.addresses;
  }

  /** Throws UNAUTHENTICATED, as `TokenRefused` where agents can connect, and RATE_LIMITED. */
  async ofRequest(request: IncomingMessage): Promise<Principal> {
    const { callers, addresses, clientOf } = this.#deps;
    if (addresses === undefined) return (await callers.ofKeyIn(request)).viewer;
    const { authorization } = request.headers;
    if (authorization === undefined) throw new TokenRefused('missing');
    const look = async () => ({ viewer: await this.#holderOf(bearerKey(authorization) ?? '', addresses) });
    return (await callers.counted(clientOf(request).address, look)).viewer;
  }

  /** Whether an open request may go on. Not a use of the token. */
  async isValid(token: string, check: OpenCheck): Promise<boolean> {
    const { apiKeys, grants, addresses } = this.#deps;
    if ((await apiKeys.authenticate(token)) !== undefined) return true;
    return addresses !== undefined && (await grants.whoIs(token, addresses.resource, check)).kind === 'valid';
  }

  async #holderOf(token: string, { resource }: OauthAddresses): Promise<Principal> {
    const { apiKeys, grants } = this.#deps;
    const key = await apiKeys.authenticate(token);
    if (key !== undefined) return key;
    const verdict = await grants.whoIs(token, resource);
    if (verdict.kind === 'valid') return verdict.principal;
    throw new TokenRefused(verdict.kind);
  }
}
