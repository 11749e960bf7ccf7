/**
 * The tokens of the URLs that devices are given to fetch something or to post something: `/t/<purpose>/<token>`. A device proves itself there by the token alone, so it names
 * one thing, serves one purpose and expires. [xiaozhi §6]
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Each purpose has a path of its own, and a token of one is none of another. */
export type UrlPurpose = 'download' | 'vision' | 'snapshot' | 'preview';

export interface UrlGrant {
  readonly purpose: UrlPurpose;
  /** What it is a permission for: an id of the hub, `[A-Za-z0-9_-]+`. */
  readonly id: string;
  /** Milliseconds since the Unix epoch, of which whole seconds count. */
  readonly expiresAt: number;
}

export type UrlVerdict = { readonly kind: 'valid'; readonly id: string } | { readonly kind: 'expired' | 'invalid' };

/** Characters of the longest token that is looked at; made ones have about 90. */
const TOKEN_LENGTH_MAX = 256;
const tokenForm = /^([\w-]+)\.([0-9a-z]{1,9})\.([\w-]{43})$/;
/** Keeps these tokens apart from whatever else the secret signs. */
const KEY_CONTEXT = 'flotilla device urls';

export class UrlSigner {
  readonly #key: KeyObject;

  /** Processes of one hub share the secret, because one makes a URL and another is asked for it. */
  constructor(secret: string) {
    this.#key = createSecretKey(createHmac('sha256', secret).update(KEY_CONTEXT).digest());
  }

  /** `/t/<purpose>/<token>`: no colon and no query, which the firmware's URL parser would not survive. */
  pathOf(grant: UrlGrant): string {
    const claims = `${grant.id}.${Math.floor(grant.expiresAt / 1000).toString(36)}`;
    return `/t/${grant.purpose}/${claims}.${this.#signature(grant.purpose, claims).toString('base64url')}`;
  }

  /** Judges the path of a request, query left out. */
  judge(purpose: UrlPurpose, path: string, now: number): UrlVerdict {
    const prefix = `/t/${purpose}/`;
    const token = path.length <= TOKEN_LENGTH_MAX && path.startsWith(prefix) ? path.slice(prefix.length) : '';
    const [, id, expiry, signature] = tokenForm.exec(token) ?? [];
    if (id === undefined || expiry === undefined || signature === undefined) return { kind: 'invalid' };
    const expected = this.#signature(purpose, `${id}.${expiry}`);
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { kind: 'invalid' };
    return Number.parseInt(expiry, 36) * 1000 > now ? { kind: 'valid', id } : { kind: 'expired' };
  }

  #signature(purpose: UrlPurpose, claims: string): Buffer {
    return createHmac('sha256', this.#key).update(`${purpose}.${claims}`).digest();
  }
}
