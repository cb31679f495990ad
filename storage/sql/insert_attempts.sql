-- An attempt that an index refuses is not returned: its container has a current one already.
INSERT INTO container_attempts (id, container_name, runner_id, enrollment_revision, is_current, created_at)
SELECT q.id, q.container_name, q.runner_id, q.enrollment_revision, q.is_current, q.created_at
FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::bigint[], $5::boolean[], $6::timestamptz[])
  AS q (id, container_name, runner_id, enrollment_revision, is_current, created_at)
ON CONFLICT DO NOTHING
RETURNING id;
