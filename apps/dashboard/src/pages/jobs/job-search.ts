/** Which jobs the list shows, as its address carries it. */
export interface JobSearch {
  readonly search?: string;
  readonly show?: 'live' | 'finished';
}

export const liveStates = ['AWAITING_APPROVAL', 'SCHEDULED', 'PREPARING', 'RUNNING', 'PAUSED', 'CANCELLING'] as const;

export function parseJobSearch({ search, show }: Readonly<Record<string, unknown>>): JobSearch {
  return {
    ...((typeof search === 'string' || typeof search === 'number') && search !== '' && { search: String(search) }),
    ...((show === 'live' || show === 'finished') && { show }),
  };
}
