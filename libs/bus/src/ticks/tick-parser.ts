/** Parses a tick from the queue, which another version of the hub may have added. */
import type { JobId } from '@flotilla/mcp';
import { z } from 'zod';
import { BusError } from '../bus-error.js';
import type { Tick } from './tick-queue.js';

const tickSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('job'), jobId: z.custom<JobId>((value) => typeof value === 'string' && value !== '') }),
  z.object({ kind: z.literal('sweep') }),
  z.object({ kind: z.literal('partitions') }),
  z.object({ kind: z.literal('retention') }),
  z.object({ kind: z.literal('webhooks') }),
]);

/** Throws BusError MESSAGE_INVALID. */
export function parseTick(data: unknown): Tick {
  const parsed = tickSchema.safeParse(data);
  if (!parsed.success) throw new BusError('MESSAGE_INVALID', `Not a tick: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
