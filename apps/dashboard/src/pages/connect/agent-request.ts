/** The request of an agent that a person decides about, over the routes at `/oauth/consent`. */

/** What agents can have; each has a text. */
export type AgentScope =
  | 'DEVICES_READ'
  | 'TOOLS_CALL'
  | 'JOBS_READ'
  | 'JOBS_WRITE'
  | 'EVENTS_READ'
  | 'DEVICES_WRITE'
  | 'TOOLS_CALL_PRIVILEGED'
  | 'FIRMWARE_WRITE';

export interface AgentRequest {
  readonly client: {
    /** The client chose it. */
    readonly name: string;
    /** Where the person is sent afterwards: a host, or a scheme such as `cursor:`. */
    readonly host: string;
    /** A program on the person's computer. */
    readonly isLocal: boolean;
    /** The address of its metadata document. */
    readonly document: string | null;
  };
  readonly scopes: readonly { readonly name: AgentScope; readonly available: boolean }[];
  /** Days until the person has to decide again. */
  readonly days: number;
  readonly person: string;
}

/** `person`: an API key cannot decide. `expired`: or started in another browser. */
export type RequestProblem = 'person' | 'expired' | 'unreachable';

export type Decision =
  | { readonly decision: 'deny' }
  | { readonly decision: 'allow'; readonly scopes: readonly AgentScope[]; readonly groupId: string | null };

export async function readRequest(uid: string): Promise<AgentRequest | RequestProblem> {
  const answer = await fetch(`${pathOf(uid)}/request`).catch(() => undefined);
  return contentOf<AgentRequest>(answer);
}

/** Resolves to the address that the browser goes to. */
export async function sendDecision(
  uid: string,
  decision: Decision,
): Promise<{ readonly redirectTo: string } | RequestProblem> {
  const answer = await fetch(pathOf(uid), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(decision),
  }).catch(() => undefined);
  return contentOf<{ readonly redirectTo: string }>(answer);
}

/** A proxy may answer for the hub with a page, and an answer may end early. */
async function contentOf<Content>(answer: Response | undefined): Promise<Content | RequestProblem> {
  if (!answer?.ok) return problemOf(answer);
  return ((await answer.json().catch(() => undefined)) as Content | undefined) ?? 'unreachable';
}

function pathOf(uid: string): string {
  return `/oauth/consent/${encodeURIComponent(uid)}`;
}

function problemOf(answer: Response | undefined): RequestProblem {
  if (answer?.status === 404) return 'expired';
  return answer?.status === 401 || answer?.status === 403 ? 'person' : 'unreachable';
}
