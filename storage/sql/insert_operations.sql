-- An operation that an index refuses is not returned: the container has a live one, or an id or handle is taken.
INSERT INTO session_operations (id, kind, relay_request_id, fresh_session_id, resume_session_id, stop_session_id,
                                handle_digest, caller_request_id, account_id, actor_id, runner_id, container_name,
                                container_attempt_id, enrollment_revision, journal_id, state, dispatch, reconciling,
                                failure_class, failure_code, session_id, cleanup, cleanup_deadline, created_at,
                                dispatched_at, finished_at, version)
SELECT q.id, q.kind, q.relay_request_id, q.fresh_session_id, q.resume_session_id, q.stop_session_id, q.handle_digest,
       q.caller_request_id, q.account_id, q.actor_id, q.runner_id, q.container_name, q.container_attempt_id,
       q.enrollment_revision, q.journal_id, q.state, q.dispatch, q.reconciling, q.failure_class, q.failure_code,
       q.session_id, q.cleanup, q.cleanup_deadline, q.created_at, q.dispatched_at, q.finished_at, q.version
FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[],
            $9::uuid[], $10::uuid[], $11::uuid[], $12::text[], $13::uuid[], $14::bigint[], $15::uuid[], $16::text[],
            $17::bigint[], $18::boolean[], $19::text[], $20::text[], $21::text[], $22::text[], $23::timestamptz[],
            $24::timestamptz[], $25::timestamptz[], $26::timestamptz[], $27::bigint[])
  AS q (id, kind, relay_request_id, fresh_session_id, resume_session_id, stop_session_id, handle_digest,
        caller_request_id, account_id, actor_id, runner_id, container_name, container_attempt_id,
        enrollment_revision, journal_id, state, dispatch, reconciling, failure_class, failure_code, session_id,
        cleanup, cleanup_deadline, created_at, dispatched_at, finished_at, version)
ON CONFLICT DO NOTHING
RETURNING id;
