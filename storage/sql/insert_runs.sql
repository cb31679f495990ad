-- A run that an index refuses is not returned: the thread has an active one already.
INSERT INTO runs (id, thread_id, agent_id, kind, state, triggered_by, message_id, agent_session_id, bind_failed,
                  failure_code, failure_detail, created_at, queued_at, started_at, finished_at, lease_expires_at,
                  version)
SELECT q.id, q.thread_id, q.agent_id, q.kind, q.state, q.triggered_by, q.message_id, q.agent_session_id,
       q.bind_failed, q.failure_code, q.failure_detail, q.created_at, q.queued_at, q.started_at, q.finished_at,
       q.lease_expires_at, q.version
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::uuid[], $8::uuid[],
            $9::boolean[], $10::text[], $11::text[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[],
            $15::timestamptz[], $16::timestamptz[], $17::bigint[])
  AS q (id, thread_id, agent_id, kind, state, triggered_by, message_id, agent_session_id, bind_failed,
        failure_code, failure_detail, created_at, queued_at, started_at, finished_at, lease_expires_at, version)
ON CONFLICT DO NOTHING
RETURNING id;
