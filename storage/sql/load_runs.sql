-- Runs by id, of the thread that is asked about only.
SELECT q.n,
       r.id, r.thread_id, r.agent_id, r.kind, r.state, r.triggered_by, r.message_id, r.agent_session_id, r.bind_failed,
       r.failure_code, r.failure_detail, r.created_at, r.queued_at, r.started_at, r.finished_at, r.lease_expires_at, r.version
FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS q (thread_id, id, n)
CROSS JOIN LATERAL (SELECT * FROM runs i WHERE i.id = q.id AND i.thread_id = q.thread_id LIMIT 1) r;
