/**
 * Notifies workers of pending webhook deliveries by a tick. A tick may be lost, because their sweep
 * looks as well.
 */
import type { TickQueue } from '@flotilla/bus';
import type { Clock } from '@flotilla/session';
import type { FleetLogger } from '../fleet-logger.js';

/** Pause between ticks of one process, ms: in a storm each batch of events has deliveries. */
const PAUSE_MS = 250;

export function notifyOutbox({
  ticks,
  clock,
  logger,
}: {
  readonly ticks: Pick<TickQueue, 'add'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
}): () => void {
  let isPausing = false;
  let isPending = false;
  const announce = (): void => {
    isPending = true;
    if (isPausing) return;
    isPausing = true;
    isPending = false;
    ticks
      .add({ kind: 'webhooks' })
      .catch((error: unknown) => logger.warn({ err: error }, 'webhooks wait for the next sweep'));
    clock.setTimer(PAUSE_MS, () => {
      isPausing = false;
      if (isPending) announce();
    });
  };
  return announce;
}
