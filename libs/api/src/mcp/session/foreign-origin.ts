/**
 * Decides which web pages may use `/mcp`: those of the hub and of the local machine. Browsers send
 * `Origin`; programs do not. This protects a hub in a private network from pages of the internet.
 * [MCP 2025-11-25, Streamable HTTP, Security Warning]
 */

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

export function isForeignOrigin(origin: string | undefined, publicUrl: string | undefined): boolean {
  if (origin === undefined) return false;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return true;
  if (loopbackHosts.has(url.hostname)) return false;
  return publicUrl === undefined || url.origin !== new URL(publicUrl).origin;
}
