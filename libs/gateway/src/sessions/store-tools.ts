/** Stores the tools of a session, unless PostgreSQL cannot store such values. */
import type { DeviceId } from '@flotilla/mcp';
import { rejectsValues } from '@flotilla/registry';
import type { RecordContext } from './record-context.js';
import type { SessionFacts } from './session-record.js';

/**
 * Returns the facts that can be written. Without refused tools the device is online with its former
 * ones, as after a listing that failed.
 */
export async function storeTools(
  { registry, logger }: RecordContext,
  deviceId: DeviceId,
  facts: SessionFacts,
): Promise<SessionFacts> {
  if (facts.toolSet === undefined) return facts;
  try {
    await registry.toolSets.ensure(facts.toolSet);
    return facts;
  } catch (error) {
    if (!rejectsValues(error)) throw error;
    logger.error({ error, deviceId }, 'PostgreSQL refused the tools of a device, which keeps its former ones');
    return { ...facts, toolSet: undefined, isComplete: false };
  }
}
