/** Whether an answer that is on its way keeps a dialog open. */
import { useState } from 'react';
import type { ConnectionState } from '../../hub/connection/connection';
import { useConnection } from '../../hub/hub';

/**
 * Requests have no time limit, so one over a dead connection would hold a dialog without end. Its
 * answer may never come, also when a new connection stands.
 */
export function isHolding(isBusy: boolean, { isUp, healed }: ConnectionState, healedBefore: number): boolean {
  return isBusy && isUp && healed === healedBefore;
}

export function useHold(isBusy: boolean): boolean {
  const connection = useConnection();
  const [healedBefore, setHealedBefore] = useState(connection.healed);
  if (!isBusy && healedBefore !== connection.healed) setHealedBefore(connection.healed);
  return isHolding(isBusy, connection, healedBefore);
}
