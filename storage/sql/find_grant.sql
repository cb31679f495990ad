-- Without a resource it is the one on the thread of run $3.
SELECT g.scope, g.resource_id, g.space_id, g.principal_id, g.level::text
FROM grants g
WHERE g.principal_id = $2
  AND g.resource_id = coalesce($1::uuid, (SELECT r.thread_id FROM runs r WHERE r.id = $3::uuid));
