/**
 * Settings of sign-in: the first admin, sessions, locks after failures, and the identity provider.
 */
import type { OidcSettings } from '@flotilla/api';
import { defaultSignInLimits, passwordProblem, type SignInLimits } from '@flotilla/fleet';
import { z } from 'zod';
import {
  checked,
  line,
  listOf,
  loopback,
  numberIn,
  optionalText,
  secretLine,
  seconds,
  unset,
} from './setting-kinds.js';

const roles = ['viewer', 'operator', 'firmware', 'admin'] as const;
const role = z
  .enum(roles, `must be ${roles.join(', ')}`)
  .transform((name) => name.toUpperCase() as Uppercase<typeof name>);

/** Pairs `claim value=role` between commas. */
const roleMap = listOf((entry) => {
  const place = entry.lastIndexOf('=');
  const named = role.safeParse(entry.slice(place + 1).trim());
  if (place > 0 && named.success) return [entry.slice(0, place).trim(), named.data] as const;
  throw new RangeError(`must list pairs such as "fleet-team=operator", with ${roles.join(', ')}, not "${entry}"`);
}).transform((pairs) => new Map(pairs));

export const peopleSettings = {
  FLOTILLA_ADMIN_EMAIL: z.preprocess(
    unset,
    z
      .string()
      .regex(/^[^\s@]{1,64}@[^\s@]{1,180}$/, 'must be an e-mail address')
      .default('admin@flotilla.local'),
  ),
  FLOTILLA_ADMIN_PASSWORD: checked(
    (text) =>
      passwordProblem(text) === undefined ? undefined : 'must have 12 to 200 characters, four of them different',
    line,
  ),
  FLOTILLA_SESSION_IDLE_SECONDS: seconds({ fallbackMs: defaultSignInLimits.idleMs, min: 60, max: 2_592_000 }),
  FLOTILLA_SESSION_SECONDS: seconds({ fallbackMs: defaultSignInLimits.sessionMs, min: 300, max: 7_776_000 }),
  FLOTILLA_SIGN_IN_FAILURES_MAX: numberIn(
    { fallback: defaultSignInLimits.failuresMax, min: 3, max: 100 },
    'must be a number of failures from 3 to 100',
  ),
  FLOTILLA_SIGN_IN_LOCK_SECONDS: seconds({ fallbackMs: defaultSignInLimits.lockMsMax, min: 1, max: 43_200 }),
  FLOTILLA_OIDC_ISSUER: checked(issuerProblem),
  FLOTILLA_OIDC_CLIENT_ID: secretLine,
  FLOTILLA_OIDC_CLIENT_SECRET: secretLine,
  FLOTILLA_OIDC_LABEL: z.preprocess(
    unset,
    z.string().max(60, 'must have at most 60 characters').default('Single sign-on'),
  ),
  FLOTILLA_OIDC_ROLE_CLAIM: optionalText,
  FLOTILLA_OIDC_ROLES: roleMap,
  FLOTILLA_OIDC_DEFAULT_ROLE: z.preprocess(unset, role.optional()),
};

/** Requires https, because the provider receives passwords and proves identities. */
function issuerProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isFit = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.test(url.hostname));
  return isFit ? undefined : 'must be an https URL; http only on a loopback address';
}

export interface PeopleConfig {
  readonly firstAdmin: { readonly email: string; readonly password: string | undefined };
  readonly limits: SignInLimits;
  readonly oidc: OidcSettings | undefined;
}

type Values = z.infer<z.ZodObject<typeof peopleSettings>>;

export function peopleOf(values: Values): PeopleConfig {
  const lockMsMax = values.FLOTILLA_SIGN_IN_LOCK_SECONDS;
  return {
    firstAdmin: { email: values.FLOTILLA_ADMIN_EMAIL, password: values.FLOTILLA_ADMIN_PASSWORD },
    limits: {
      ...defaultSignInLimits,
      idleMs: values.FLOTILLA_SESSION_IDLE_SECONDS,
      sessionMs: values.FLOTILLA_SESSION_SECONDS,
      failuresMax: values.FLOTILLA_SIGN_IN_FAILURES_MAX,
      lockMsMax,
    },
    oidc: oidcOf(values),
  };
}

function oidcOf(values: Values): OidcSettings | undefined {
  const { FLOTILLA_OIDC_ISSUER: issuer, FLOTILLA_OIDC_CLIENT_ID: clientId } = values;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    issuer,
    clientId,
    clientSecret: values.FLOTILLA_OIDC_CLIENT_SECRET,
    label: values.FLOTILLA_OIDC_LABEL,
    roleClaim: values.FLOTILLA_OIDC_ROLE_CLAIM,
    roles: values.FLOTILLA_OIDC_ROLES,
    defaultRole: values.FLOTILLA_OIDC_DEFAULT_ROLE,
  };
}

export function peopleContradictions(values: Values): string[] {
  const {
    FLOTILLA_OIDC_ISSUER: issuer,
    FLOTILLA_OIDC_CLIENT_ID: clientId,
    FLOTILLA_OIDC_CLIENT_SECRET: clientSecret,
  } = values;
  const problems: string[] = [];
  if ((issuer === undefined) !== (clientId === undefined) || (issuer === undefined && clientSecret !== undefined))
    problems.push('FLOTILLA_OIDC_ISSUER and FLOTILLA_OIDC_CLIENT_ID belong together. Set both or none.');
  if ((values.FLOTILLA_OIDC_ROLE_CLAIM === undefined) !== (values.FLOTILLA_OIDC_ROLES.size === 0))
    problems.push(
      'FLOTILLA_OIDC_ROLE_CLAIM and FLOTILLA_OIDC_ROLES belong together: the claim, and the roles of its values.',
    );
  if (values.FLOTILLA_SESSION_IDLE_SECONDS > values.FLOTILLA_SESSION_SECONDS)
    problems.push(
      'FLOTILLA_SESSION_IDLE_SECONDS must not be longer than FLOTILLA_SESSION_SECONDS, the maximum of a session.',
    );
  return problems;
}
