/**
 * The rules for webhooks. The address and its current resolution are checked here, and again on
 * each connect.
 */
import dns from 'node:dns/promises';
import { selectsEvents } from '@flotilla/registry';
import { withTimeout } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { isPublicAddress, literalOf } from './public-address.js';

export interface WebhookRequest {
  readonly url: string;
  readonly types: readonly string[];
  readonly enabled: boolean;
}

const URL_CHARACTERS_MAX = 2_048;
/** Patterns of one webhook; for more use `*`. */
const TYPES_MAX = 50;
/** Of a type that a refusal repeats. */
const SHOWN_CHARACTERS_MAX = 100;
/** A name that does not resolve in this time is accepted: its deliveries will fail. */
const LOOKUP_MS = 5_000;

/** `storedTypes` of the webhook that is changed may be from another version of the hub. */
export async function refuseWebhook(
  request: WebhookRequest,
  trustedOrigins: ReadonlySet<string>,
  clock: Clock,
  storedTypes: readonly string[] = [],
): Promise<Refusal | undefined> {
  return (
    refuseTypes(request.types, storedTypes) ??
    (await refuseUrl(request.url, ['input', 'url'], { trustedOrigins, clock }))
  );
}

function refuseTypes(types: readonly string[], stored: readonly string[]): Refusal | undefined {
  const path = ['input', 'types'];
  if (types.length === 0 || types.length > TYPES_MAX)
    return refuse('INVALID', path, `A webhook has 1 to ${TYPES_MAX} event types; "*" stands for all.`);
  const wrong = types.find((type) => !selectsEvents(type) && !stored.includes(type));
  if (wrong === undefined) return undefined;
  const shown = wrong.slice(0, SHOWN_CHARACTERS_MAX);
  return refuse(
    'INVALID',
    path,
    `No event has the type "${shown}". docs/webhooks.md lists all types; "device.*" selects those of devices, "*" all.`,
  );
}

/** The rules for an address that the hub posts to, also of notification channels. */
export async function refuseUrl(
  text: string,
  path: readonly string[],
  { trustedOrigins, clock }: { readonly trustedOrigins: ReadonlySet<string>; readonly clock: Clock },
): Promise<Refusal | undefined> {
  if (text.length > URL_CHARACTERS_MAX || !URL.canParse(text))
    return refuse('INVALID', path, `The address is an absolute URL of at most ${URL_CHARACTERS_MAX} characters.`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refuse('INVALID', path, 'The address begins with https:// or http://.');
  if (url.username !== '' || url.password !== '')
    return refuse('INVALID', path, 'The address holds no name and password: deliveries are signed, which proves more.');
  if (trustedOrigins.has(url.origin)) return undefined;
  const inside = await addressesOf(url.hostname, clock).then((addresses) =>
    addresses.find((address) => !isPublicAddress(address)),
  );
  if (inside === undefined) return undefined;
  return refuse(
    'URL_FORBIDDEN',
    path,
    `${url.hostname} is not on the public internet. ` +
      `Add ${url.origin} to FLOTILLA_WEBHOOK_URLS if events may be sent there.`,
  );
}

/** None where the name is not known. */
async function addressesOf(hostname: string, clock: Clock): Promise<readonly string[]> {
  const literal = literalOf(hostname);
  if (literal !== undefined) return [literal];
  const found = dns.lookup(hostname, { all: true }).then(
    (addresses) => addresses.map(({ address }) => address),
    () => [],
  );
  return withTimeout<readonly string[]>(found, LOOKUP_MS, clock, () => []);
}
