-- Takes the enabled desired states without a living owner, unless a living process owns another one
-- of the same property. The caller holds the lock of ownership.
UPDATE desired_state s SET owner_id = $1, fence = s.fence + 1
WHERE s.enabled AND (s.owner_id IS NULL OR s.owner_id <> $1)
  AND EXISTS (SELECT FROM hub_process p WHERE p.id = $1 AND p.lease_until > now())
  AND NOT EXISTS (SELECT FROM hub_process p WHERE p.id = s.owner_id AND p.lease_until > now())
  AND NOT EXISTS (
    SELECT FROM desired_state o JOIN hub_process p ON p.id = o.owner_id AND p.lease_until > now()
    WHERE o.property = s.property AND o.id <> s.id AND o.enabled AND o.owner_id <> $1)
RETURNING s.id
