/** What each step of the wizard is given. */
import { createContext, useContext } from 'react';
import type { JobDraft } from './job-draft';
import type { Refusal } from './refusals';

interface Wizard {
  readonly draft: JobDraft;
  readonly change: (change: Partial<JobDraft>) => void;
  /** What the hub said of the draft when it was last asked. */
  readonly refusals: readonly Refusal[];
  /** Whether the operator tried to continue; missing values are shown then. */
  readonly isTried: boolean;
}

const WizardContext = createContext<Wizard | undefined>(undefined);

export const WizardProvider = WizardContext.Provider;

export function useWizard(): Wizard {
  const wizard = useContext(WizardContext);
  if (!wizard) throw new Error('A step needs the WizardProvider around it.');
  return wizard;
}
