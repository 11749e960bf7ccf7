/** One OTA request as a board makes it, and nothing that a board would do with the answer. */
import type { HubProcess } from '../hub/hub-process.js';

export interface OtaReply {
  readonly status: number;
  readonly body: {
    readonly mqtt?: Readonly<Record<string, string | number>>;
    readonly server_time?: { readonly timestamp: number; readonly timezone_offset: number };
    readonly activation?: { readonly code: string };
    /** `url` is empty where there is nothing to install. */
    readonly firmware?: { readonly version: string; readonly url: string };
  };
}

/** `path` is the one of an enrolment link, where it is not everybody's. */
export async function askOta(
  hub: Pick<HubProcess, 'httpUrl'>,
  {
    mac,
    uuid,
    path = '/ota/',
    version = '2.4.2',
  }: { readonly mac: string; readonly uuid: string; readonly path?: string; readonly version?: string },
): Promise<OtaReply> {
  const response = await fetch(new URL(path, hub.httpUrl), {
    method: 'POST',
    headers: {
      'Device-Id': mac,
      'Client-Id': uuid,
      'User-Agent': `lichuang-dev/${version}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ version: 2, mac_address: mac, uuid, application: { name: 'xiaozhi', version } }),
  });
  return { status: response.status, body: (await response.json()) as OtaReply['body'] };
}
