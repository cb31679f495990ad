-- A row that is not as it was seen is not returned. The thread is compared so that no index of threads is tempting.
UPDATE agent_sessions a
SET external_session_ref = q.external_session_ref, model = q.model, started = q.started, version = q.version
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::bigint[])
  AS q (id, thread_id, external_session_ref, model, started, version)
WHERE a.id = q.id AND a.version = q.version - 1
  AND a.thread_id IS NOT DISTINCT FROM q.thread_id
RETURNING a.id;
