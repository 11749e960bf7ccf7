/** The form of the arguments of a tool, whose values go into a draft. */
import { useEffect } from 'react';
import { useArguments } from '../../../parts/arguments/arguments-form';
import type { ToolChoice } from './most-common-tools';

interface DraftOfArguments {
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  readonly isSound: boolean;
}

export function useDraftedArguments(
  tool: ToolChoice,
  draft: DraftOfArguments,
  change: (changes: DraftOfArguments) => void,
) {
  const state = useArguments(tool, { given: draft.arguments, isPreset: false });
  const written = JSON.stringify(state.arguments);
  const { isSound } = state;
  useEffect(() => {
    // Not on arrival: what the hub said of them still holds.
    if (written === JSON.stringify(draft.arguments) && isSound === draft.isSound) return;
    change({ arguments: JSON.parse(written) as Record<string, unknown>, isSound });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the other two change at each render
  }, [written, isSound]);
  return state;
}
