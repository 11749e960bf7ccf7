/**
 * Which web pages may talk to `/mcp`: the hub's own and those of the person's own machine. A browser sends `Origin` where a page asks; programs send none. This is what
 * keeps a page on the Internet from reaching a hub in the network of whoever looks at it. [MCP 2025-11-25, Streamable HTTP, Security Warning]
 */

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

export function isForeignOrigin(origin: string | undefined, publicUrl: string | undefined): boolean {
  if (origin === undefined) return false;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return true;
  if (loopbackHosts.has(url.hostname)) return false;
  return publicUrl === undefined || url.origin !== new URL(publicUrl).origin;
}
