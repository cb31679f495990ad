UPDATE agent_sessions a
SET is_current = false, ended_at = q.ended_at, end_reason = q.end_reason, version = a.version + 1
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::text[])
  AS q (id, thread_id, version, ended_at, end_reason)
WHERE a.id = ANY ($1::uuid[]) AND a.id = q.id AND a.thread_id = q.thread_id AND a.version = q.version AND a.is_current
RETURNING a.id;
