-- A container that is not as it was seen is not returned.
UPDATE containers c SET attempt_id = q.attempt_id, version = q.version
FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::bigint[]) AS q (name, id, attempt_id, version)
WHERE c.name = q.name AND c.id = q.id AND c.version = q.version - 1
RETURNING c.id;
