/** A preview as the schema shows it. */
import type { JobPreview, Refusal } from '@flotilla/fleet';
import { userErrors } from '../errors/user-errors.js';

export type ShownPreview = Omit<JobPreview, 'refusal'> & { readonly userErrors: readonly Refusal[] };

export function showPreview({ refusal, ...preview }: JobPreview): ShownPreview {
  return { ...preview, userErrors: userErrors(refusal) };
}
