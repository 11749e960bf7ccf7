/**
 * Addresses as the audit trail shows them, without their tokens: in user names, in queries, and in
 * segments of paths, such as those of enrolment links, uploads and webhooks.
 */
import { MASK } from '@flotilla/mcp';

/**
 * User information, authority and path, query. The user information ends at the last `@`. It may
 * have a password with an unescaped slash; then no port follows its colon.
 */
const URL_PARTS =
  /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@|[^/?#@:[]*:(?!\d+(?:[/?#]|$)).*@)?([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/is;
/**
 * One inside a longer text ends at white space or a quote. The limit of the scheme keeps the search
 * linear.
 */
const EMBEDDED_URL = /[a-z][a-z0-9+.-]{0,31}:\/\/[^\s"'<>]+/gi;
const PATH = /^(\/[^\s?#]*)(\?[^\s#]*)?(#\S*)?$/;

/** Words of a segment: a name, also in camel case, a number, or capitals. */
const WORD = /^(?:[A-Za-z][a-z]{0,14}(?:[A-Z][a-z]{2,14}){0,2}|\d{1,6}|[A-Z]{1,10})$/;
/** Letters of one case with digits, as `v1` and `esp32s3`: few and short, or they are a code. */
const MIXED = /^(?:[a-z0-9]{1,8}|[A-Z0-9]{1,8})$/;
const MIXED_MAX = 2;
/** A longer segment has at most one of them: a random token has this many characters. */
const LONG = 24;

export function maskedAddresses(text: string): string {
  if (text.startsWith('/')) return maskedPathAndQuery(text);
  const whole = maskedUrl(text);
  return whole ?? (text.includes('://') ? text.replace(EMBEDDED_URL, (url) => maskedUrl(url) ?? url) : text);
}

function maskedUrl(text: string): string | undefined {
  const parts = URL_PARTS.exec(text);
  if (parts === null) return undefined;
  const [, scheme = '', authority = '', path = '', query = ''] = parts;
  return `${scheme}${authority}${maskedPath(path)}${query === '' ? '' : `?${MASK}`}`;
}

function maskedPathAndQuery(text: string): string {
  const [, path, query = ''] = PATH.exec(text) ?? [];
  return path === undefined ? text : `${maskedPath(path)}${query === '' ? '' : `?${MASK}`}`;
}

function maskedPath(path: string): string {
  let isAfterOta = false;
  return path.replace(/[^/]+/g, (segment) => {
    const shown = isAfterOta || !isPlain(segment) ? MASK : segment;
    // The next segment is the token of an enrolment link.
    isAfterOta ||= segment.toLowerCase() === 'ota';
    return shown;
  });
}

function isPlain(segment: string): boolean {
  const codes = segment.split(/[-_.~@+]/).filter((piece) => piece !== '' && !WORD.test(piece));
  return codes.length <= (segment.length > LONG ? 1 : MIXED_MAX) && codes.every((piece) => MIXED.test(piece));
}
