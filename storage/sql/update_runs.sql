-- A run that is not as it was seen, or whose time is not over by this clock, is not returned.
UPDATE runs r
SET kind = q.kind, state = q.state, agent_session_id = q.agent_session_id, bind_failed = q.bind_failed,
    failure_code = q.failure_code, failure_detail = q.failure_detail, queued_at = q.queued_at, started_at = q.started_at,
    finished_at = q.finished_at, lease_expires_at = q.lease_expires_at, version = q.version
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::uuid[],
            $9::text[], $10::text[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[],
            $15::text[], $16::boolean[])
  AS q (id, thread_id, version, state, from_state, expiry, queued_timeout_s, agent_session_id, failure_code,
        failure_detail, queued_at, started_at, finished_at, lease_expires_at, kind, bind_failed)
WHERE r.id = q.id AND r.thread_id = q.thread_id AND r.version = q.version - 1
  AND r.state = q.from_state
  AND CASE q.expiry
    WHEN 'lease' THEN r.lease_expires_at <= clock_timestamp()
    WHEN 'queued' THEN r.queued_at <= clock_timestamp() - q.queued_timeout_s * interval '1 second'
    ELSE true
  END
RETURNING r.id;
