-- Events of a part of the log that this principal may see at this moment: what lies in spaces of his own, and where he
-- holds any grant on the way from the thread to its space. A filter that is null does not filter.
WITH owned AS MATERIALIZED (
  SELECT s.id FROM spaces s WHERE s.owner_id = $1
), granted AS MATERIALIZED (
  SELECT g.resource_id AS id FROM grants g WHERE g.principal_id = $1
)
SELECT e.seq, e.id, e.type, e.time, e.space_id, e.channel_id, e.thread_id, e.resource_kind, e.resource_id,
       e.resource_version, e.actor_kind, e.actor_id, e.payload::text
FROM events e
WHERE e.seq > $2::bigint AND e.seq <= $3::bigint
  AND ($5::uuid IS NULL OR e.space_id = $5::uuid)
  AND ($6::uuid IS NULL OR e.channel_id = $6::uuid)
  AND ($7::uuid IS NULL OR e.thread_id = $7::uuid)
  AND ($8::text IS NULL OR e.type = $8::text)
  AND (
    e.space_id IN (SELECT o.id FROM owned o)
    OR e.space_id IN (SELECT g.id FROM granted g)
    OR e.channel_id IN (SELECT g.id FROM granted g)
    OR e.thread_id IN (SELECT g.id FROM granted g)
  )
ORDER BY e.seq LIMIT $4::bigint;
