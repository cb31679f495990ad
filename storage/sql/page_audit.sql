-- Newest first. A filter that is null does not filter.
SELECT l.id, l.time, l.actor_id, l.action, l.allowed, l.resource_kind, l.resource_id, l.reason, l.count,
       l.details::text
FROM audit_log l
WHERE l.id < $1
  AND ($3::uuid IS NULL OR l.actor_id = $3::uuid)
  AND ($4::text IS NULL OR l.action = $4::text)
  AND ($5::boolean IS NULL OR l.allowed = $5::boolean)
  AND ($6::uuid IS NULL OR l.resource_id = $6::uuid)
ORDER BY l.id DESC LIMIT $2::bigint;
