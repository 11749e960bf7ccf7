/**
 * What a client says about itself, reduced to what the hub uses. The hub gives no secrets: clients
 * are public and use PKCE. [RFC 7591 §2, RFC 8252, MCP Authorization]
 */
import { isLoopback } from './oauth-settings.js';

type ClientMetadata = Record<string, unknown>;

const REDIRECTS_MAX = 10;
const URI_CHARACTERS_MAX = 2_000;
const NAME_CHARACTERS_MAX = 200;
/** Schemes that a browser runs or opens itself. */
const unfitSchemes = new Set(['about:', 'blob:', 'data:', 'file:', 'ftp:', 'javascript:', 'vbscript:', 'ws:', 'wss:']);

/** Why a redirect URI is refused; undefined where it is fit. */
export function redirectProblem(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.length > URI_CHARACTERS_MAX || !URL.canParse(uri))
    return `a redirect URI is an absolute URL of at most ${URI_CHARACTERS_MAX} characters`;
  // URL leaves them out, but clients are compared by the text.
  if (uri !== uri.trim() || /\p{Cc}/u.test(uri))
    return 'a redirect URI has no control characters, and no spaces or line breaks at its ends';
  const { protocol, hostname, hash, username, password } = new URL(uri);
  if (hash !== '' || uri.includes('#')) return 'a redirect URI has no fragment';
  if (username !== '' || password !== '') return 'a redirect URI has no name and password';
  if (unfitSchemes.has(protocol)) return `a redirect URI does not begin with ${protocol}`;
  if (protocol === 'http:' && !isLoopback(hostname))
    return 'a redirect URI begins with https; http is for loopback addresses';
  return undefined;
}

/** The members to store of a registration, or why it is refused. */
export function registrationOf(
  body: unknown,
): { readonly metadata: ClientMetadata } | { readonly error: string; readonly problem: string } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { error: 'invalid_client_metadata', problem: 'the registration is a JSON object' };
  const given: Readonly<Record<string, unknown>> = { ...body };
  const { redirect_uris: uris, client_name: name, client_uri: uri } = given;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > REDIRECTS_MAX)
    return { error: 'invalid_redirect_uri', problem: `redirect_uris has 1 to ${REDIRECTS_MAX} entries` };
  const problem = uris.map(redirectProblem).find((each) => each !== undefined);
  if (problem !== undefined) return { error: 'invalid_redirect_uri', problem };
  if (name !== undefined && (typeof name !== 'string' || name.length > NAME_CHARACTERS_MAX))
    return {
      error: 'invalid_client_metadata',
      problem: `client_name is a text of at most ${NAME_CHARACTERS_MAX} characters`,
    };
  const metadata = {
    redirect_uris: [...new Set(uris as readonly string[])],
    ...(name === undefined || name === '' ? {} : { client_name: name }),
    ...(isWebAddress(uri) ? { client_uri: uri } : {}),
    application_type: applicationType(uris as readonly string[]),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  return { metadata };
}

/** A metadata document with the kind of its client: loopback ports vary. [RFC 8252 §7.3] */
export function completedDocument(text: string): string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof document !== 'object' || document === null || !('redirect_uris' in document)) return text;
  const { redirect_uris: uris } = document;
  if (!Array.isArray(uris) || uris.some((uri) => redirectProblem(uri) !== undefined)) return text;
  return JSON.stringify({
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...document,
    application_type: applicationType(uris as readonly string[]),
  });
}

/** `native` clients may choose the port of a loopback address at each request. */
function applicationType(uris: readonly string[]): 'native' | 'web' {
  return uris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native';
}

function isWebAddress(uri: unknown): boolean {
  return typeof uri === 'string' && uri.length <= URI_CHARACTERS_MAX && URL.canParse(uri) && /^https?:/.test(uri);
}
