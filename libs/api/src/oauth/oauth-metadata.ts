/** The documents by which clients find the authorization server. They need no library. */
import { agentScopes, usualAgentScopes } from '@flotilla/fleet';
import { oauthPaths, type OauthAddresses } from './oauth-settings.js';

/** Clients without a preference ask for all of these, so they are the usual ones. [RFC 9728 §2] */
export function resourceDocument({ issuer, resource }: OauthAddresses) {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [...usualAgentScopes],
    bearer_methods_supported: ['header'],
    resource_name: 'Flotilla',
  };
}

/** [RFC 8414 §2, RFC 7009, RFC 7591, RFC 9207, client-id metadata documents] */
export function serverDocument({ issuer, resource }: OauthAddresses) {
  return {
    issuer,
    authorization_endpoint: `${issuer}${oauthPaths.authorization}`,
    token_endpoint: `${issuer}${oauthPaths.token}`,
    registration_endpoint: `${issuer}${oauthPaths.registration}`,
    revocation_endpoint: `${issuer}${oauthPaths.revocation}`,
    jwks_uri: `${issuer}${oauthPaths.jwks}`,
    scopes_supported: [...agentScopes, 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [resource],
    ui_locales_supported: ['en', 'zh'],
  };
}

/** The members that OpenID Connect Discovery requires besides. The hub issues no id tokens. */
export function openIdDocument(addresses: OauthAddresses) {
  return {
    ...serverDocument(addresses),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
  };
}
