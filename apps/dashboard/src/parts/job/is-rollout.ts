/** Whether a job brings an image to devices. */

interface RolloutLike {
  readonly tool: string;
  readonly arguments: unknown;
  readonly firmwareImage: object | null;
}

/** The hub chooses these tools by the kind of the image. */
const imageTools: readonly string[] = ['self.upgrade_firmware', 'self.assets.set_download_url'];

/**
 * Without DEVICES_READ the hub hides the image. A roll-out has no arguments, and other calls of its
 * tools have an address.
 */
export function isRollout({ tool, arguments: given, firmwareImage }: RolloutLike): boolean {
  return firmwareImage !== null || (imageTools.includes(tool) && Object.keys(given ?? {}).length === 0);
}
