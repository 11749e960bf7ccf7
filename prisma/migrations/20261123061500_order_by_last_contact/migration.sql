-- The order by last contact: connected devices come first. The index on the stored contact stays
-- for the filter `lastSeenBefore`.
CREATE INDEX device_last_contact_order_idx ON device (
  (coalesce(last_seen_at AT TIME ZONE 'UTC' + CASE WHEN online THEN interval '1000 years' ELSE interval '0' END,
    '-infinity'::timestamp)) DESC, id);
