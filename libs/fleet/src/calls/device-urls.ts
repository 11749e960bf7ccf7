/**
 * Checks the URLs that a call makes a device open. Only origins that the operator allows pass, for
 * every caller [architecture, invariant 9]. A URL must also be written in its normal form, because
 * the parser of the device is not ours.
 */

/** Tools that open the URL in any text argument. The names are those of the firmware. */
const urlTools = new Set([
  'self.upgrade_firmware',
  'self.assets.set_download_url',
  'self.screen.snapshot',
  'self.screen.preview_image',
]);

interface ForbiddenUrl {
  /** The argument as a caller would write it. */
  readonly path: string;
  readonly message: string;
}

interface AllowedUrls {
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
  // With backslashes, control characters, odd ports or dots a device could read another host.
  if (url.href !== text && url.href !== `${text}/`) return `must be written in its normal form, ${url.href}`;
  if (!origins.has(url.origin))
    return `is on ${url.origin}, which the hub's setting FLOTILLA_DEVICE_URLS does not allow`;
  return undefined;
}
