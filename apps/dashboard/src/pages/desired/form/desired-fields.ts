/** What each part of the form is given. */
import type { Refusal } from '../../new-job/refusals';
import type { DesiredDraft } from './desired-draft';

export interface DesiredFields {
  readonly draft: DesiredDraft;
  readonly change: (change: Partial<DesiredDraft>) => void;
  /** What the hub said of the draft in its latest preview. */
  readonly refusals: readonly Refusal[];
  /** Whether the operator tried to save; missing values are shown then. */
  readonly isTried: boolean;
}
