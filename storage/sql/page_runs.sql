SELECT r.id, r.thread_id, r.agent_id, r.kind, r.state, r.triggered_by, r.message_id, r.agent_session_id, r.bind_failed,
       r.failure_code, r.failure_detail, r.created_at, r.queued_at, r.started_at, r.finished_at, r.lease_expires_at, r.version
FROM runs r WHERE r.thread_id = $1 AND r.id > $2 ORDER BY r.id LIMIT $3::bigint;
