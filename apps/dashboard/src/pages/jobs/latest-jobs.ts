/** The list of jobs with its first page as it is now. What was loaded beyond that page stays. */

interface Row {
  /** Ids are in the order of time. */
  readonly id: string;
}

interface FirstPage<Job extends Row> {
  readonly nodes: readonly Job[];
  readonly pageInfo: { readonly hasNextPage: boolean };
}

/** Whether jobs may be missing between the first page and the rows, as after a hidden tab. */
export function isBeyond<Job extends Row>({ nodes, pageInfo }: FirstPage<Job>, rows: readonly Job[]): boolean {
  const oldest = nodes.at(-1)?.id ?? '';
  return pageInfo.hasNextPage && rows.length > 0 && rows.every(({ id }) => id < oldest);
}

export function withFirstPage<Job extends Row>(
  rows: readonly Job[],
  { nodes, pageInfo }: FirstPage<Job>,
): readonly Job[] {
  const oldest = nodes.at(-1)?.id ?? '';
  return [...nodes, ...(pageInfo.hasNextPage ? rows.filter(({ id }) => id < oldest) : [])];
}
