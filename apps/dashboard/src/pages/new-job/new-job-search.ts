/**
 * The address of the wizard: the initial values of a new job (selected devices, a tool, an image),
 * the step, and the draft that keeps what was typed.
 */
import { type DeviceSearch, parseDeviceSearch } from '../devices/device-search';
import { steps, type StepName } from './job-steps';

export interface NewJobSearch {
  readonly devices?: DeviceSearch;
  readonly ids?: readonly string[];
  readonly tool?: string;
  readonly firmwareImageId?: string;
  /** The first step if it is missing. */
  readonly step?: StepName;
  /** Names what this browser keeps of the job. */
  readonly draft?: string;
}

/** As `newDraftId` makes them. */
const draftPattern = /^d[0-9a-f]{14}$/;

export function parseNewJobSearch({
  devices,
  ids,
  tool,
  firmwareImageId,
  step,
  draft,
}: Readonly<Record<string, unknown>>): NewJobSearch {
  const chosen = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  const named = steps.find((name) => name === step);
  return {
    ...(typeof devices === 'object' && devices !== null && { devices: parseDeviceSearch({ ...devices }) }),
    ...(chosen.length > 0 && { ids: chosen }),
    ...(typeof tool === 'string' && { tool }),
    ...(typeof firmwareImageId === 'string' && { firmwareImageId }),
    ...(named !== undefined && { step: named }),
    ...(typeof draft === 'string' && draftPattern.test(draft) && { draft }),
  };
}
