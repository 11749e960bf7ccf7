/** A refusal as the list that payloads carry. */
import type { Refusal } from './fleet-operations.js';

export function userErrors(refusal: Refusal | undefined): readonly Refusal[] {
  return refusal ? [refusal] : [];
}
