/** Does something when a lost connection to the hub is back, or subscriptions over it. */
import { useEffect, useRef } from 'react';
import { useConnection } from './hub';

/** Keep the same function as long as it does the same. */
export function useHealed(act: () => void): void {
  const { healed } = useConnection();
  // Outages before it was mounted do not count: its first read comes after them.
  const seen = useRef(healed);
  useEffect(() => {
    if (healed === seen.current) return;
    seen.current = healed;
    act();
  }, [healed, act]);
}
