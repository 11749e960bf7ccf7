/** What a job is called in lists and headings. */

interface NamedJob {
  readonly name: string | null;
  readonly tool: string;
  readonly firmwareImage: { readonly project: string; readonly version: string } | null;
}

/** Its name. A roll-out without one is named after its image, and a call after its tool. */
export function jobName({ name, tool, firmwareImage }: NamedJob): string {
  return name ?? (firmwareImage === null ? tool : `${firmwareImage.project} ${firmwareImage.version}`);
}
