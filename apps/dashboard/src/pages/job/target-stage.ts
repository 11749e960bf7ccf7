/** Shows when the targets of a job may have changed, without reading them. */

interface StagedJob {
  readonly state: string;
  readonly currentWave: number;
  readonly progress: {
    readonly total: number;
    readonly pending: number;
    readonly waitingDevice: number;
    readonly inFlight: number;
    readonly verifying: number;
  };
}

/** Another text when a target got its wave, its stage or its outcome. */
export function targetStage({ state, currentWave, progress }: StagedJob): string {
  const { total, pending, waitingDevice, inFlight, verifying } = progress;
  return [state, currentWave, total, pending, waitingDevice, inFlight, verifying].join(' ');
}

/** As the first page of targets has them. */
export const pageSize = 100;

/** Rows beyond the first page are read again only when no more can change. */
export function areReadAgain(loaded: number, isFinished: boolean): boolean {
  return loaded <= pageSize || isFinished;
}
