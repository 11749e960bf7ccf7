/** A refusal as the list that payloads carry. */
import type { Refusal } from '@flotilla/fleet';

export function userErrors(refusal: Refusal | undefined): readonly Refusal[] {
  return refusal ? [refusal] : [];
}
