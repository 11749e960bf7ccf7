/** Addresses that only programs on the same machine reach. */

/** Whether the address names the machine itself: 127.0.0.0/8, ::1 or localhost. */
export function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return /^127(\.\d+){3}$/.test(hostname) || hostname === '[::1]' || /^(.+\.)?localhost$/.test(hostname);
}
