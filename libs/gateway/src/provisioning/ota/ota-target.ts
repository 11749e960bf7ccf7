/** Parses the path of an OTA request: activation or not, and the token of an enrolment link. */

export interface OtaTarget {
  readonly token: string | undefined;
  readonly isActivation: boolean;
}

/**
 * `/ota` or `/ota/<token>`, optionally with a trailing slash or `/activate`. Devices append that
 * after a query string. [xiaozhi §7.4]
 */
export function otaTarget(url: string): OtaTarget {
  const activation = /\/activate\/?$/.exec(url);
  const [path = ''] = (activation ? url.slice(0, activation.index) : url).split('?', 1);
  const token = /^\/ota\/([A-Za-z0-9_-]{1,128})\/?$/.exec(path)?.[1];
  return { token, isActivation: activation !== null };
}
