/**
 * Which URLs a device may be told to fetch or to post to: only those that the hub's operator allows, whoever calls. [architecture, invariant 9] Decides
 * by the text that the device will get, not only by how we read it, because its parser is another one than ours.
 */

/** Tools whose every text argument is a URL that the device then opens. Names as firmware has them. */
const urlTools = new Set([
  'self.upgrade_firmware',
  'self.assets.set_download_url',
  'self.screen.snapshot',
  'self.screen.preview_image',
]);

export interface ForbiddenUrl {
  /** The argument as a caller would write it. */
  readonly path: string;
  readonly message: string;
}

export interface AllowedUrls {
  /** As `new URL(…).origin` writes them. */
  readonly origins: ReadonlySet<string>;
  /** One that the hub made itself for this very call. */
  readonly ownUrl?: string | undefined;
}

export function findForbiddenUrl(tool: string, args: unknown, allowed: AllowedUrls): ForbiddenUrl | undefined {
  // Devices may match names without regard to case.
  return urlTools.has(tool.toLowerCase()) ? findInValue(args, '', allowed) : undefined;
}

function findInValue(value: unknown, path: string, allowed: AllowedUrls): ForbiddenUrl | undefined {
  if (typeof value === 'string') {
    const rule = brokenRule(value, allowed);
    return rule === undefined ? undefined : { path, message: `Argument "${path}" ${rule}.` };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const forbidden = findInValue(member, path === '' ? name : `${path}.${name}`, allowed);
    if (forbidden !== undefined) return forbidden;
  }
  return undefined;
}

function brokenRule(text: string, { origins, ownUrl }: AllowedUrls): string | undefined {
  if (text === ownUrl) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password';
  // Backslashes, control characters, odd ports or dots: we would read another host than the device does.
  if (url.href !== text && url.href !== `${text}/`) return `must be written in its normal form, ${url.href}`;
  if (!origins.has(url.origin))
    return `is on ${url.origin}, which the hub's setting FLOTILLA_DEVICE_URLS does not allow`;
  return undefined;
}
