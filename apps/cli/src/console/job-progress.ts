/** Shows a job on the terminal: a bar for a person, one line per change for a file or a pipe. */
import { SingleBar } from 'cli-progress';
import type { JobStatusFragment } from '@flotilla/client';
import { say } from './output.js';

interface JobView {
  show(job: JobStatusFragment): void;
  end(): void;
}

interface Counted {
  readonly progress: Omit<JobStatusFragment['progress'], 'ratePerMinute' | 'estimatedFinishAt'>;
}

export function decidedOf({ progress }: Counted): number {
  return progress.total - progress.pending - progress.waitingDevice - progress.inFlight - progress.verifying;
}

/** Outcomes other than success, such as "3 failed, 1 unknown". */
export function troublesOf({ progress }: Counted): string {
  const { failed, rejected, verifyFailed, unknown, expired, cancelled, skipped } = progress;
  return Object.entries({ failed, rejected, 'not verified': verifyFailed, unknown, expired, cancelled, skipped })
    .flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
    .join(', ');
}

/** The progress as people read it, under the names that tables and `--columns` have for it. */
export function progressInWords(job: Counted): { readonly decided: string; readonly troubles: string | null } {
  return { decided: `${decidedOf(job)} of ${job.progress.total}`, troubles: troublesOf(job) || null };
}

export function stateOf({
  state,
  conclusion,
  pauseReason,
}: Pick<JobStatusFragment, 'state' | 'conclusion' | 'pauseReason'>): string {
  return conclusion ?? (pauseReason === null ? state : `${state} (${pauseReason})`);
}

export function viewJob(stream: NodeJS.WriteStream = process.stderr): JobView {
  return stream.isTTY ? barOn(stream) : lines();
}

function barOn(stream: NodeJS.WriteStream): JobView {
  const bar = new SingleBar({
    stream,
    format: '{state} [{bar}] {value}/{total} {troubles}',
    hideCursor: true,
    clearOnComplete: false,
  });
  let isStarted = false;
  return {
    show: (job) => {
      const shown = { state: stateOf(job), troubles: troublesOf(job) };
      if (!isStarted) bar.start(job.progress.total, decidedOf(job), shown);
      isStarted = true;
      bar.setTotal(job.progress.total);
      bar.update(decidedOf(job), shown);
    },
    end: () => bar.stop(),
  };
}

function lines(): JobView {
  let last = '';
  return {
    show: (job) => {
      const troubles = troublesOf(job);
      const line = [`${stateOf(job)}: ${decidedOf(job)} of ${job.progress.total}`, troubles].filter(Boolean).join(', ');
      if (line !== last) say(line);
      last = line;
    },
    end: () => undefined,
  };
}
