/** Copies a text, also over plain HTTP, where browsers have no clipboard for pages. */

/** Shows the text. */
export type CopiedField = Pick<HTMLInputElement | HTMLTextAreaElement, 'focus' | 'select'>;

/** False where the browser refuses: then the field is selected, to be copied by keyboard. */
export async function copyText(text: string, field: CopiedField | null): Promise<boolean> {
  // Types of the browser promise one for each page.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard !== undefined) {
    const isCopied = await clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (isCopied) return true;
  }
  field?.focus();
  field?.select();
  // Deprecated, and the only way over plain HTTP.
  return field !== null && document.execCommand('copy');
}
