-- A binding that an index refuses is not returned: the container has a live one, or the session had one before.
INSERT INTO session_bindings (session_id, account_id, actor_id, runner_id, container_name, container_attempt_id,
                              operation_id, state, relayed_through, transcript_through, input_through, created_at,
                              released_at, version)
SELECT q.session_id, q.account_id, q.actor_id, q.runner_id, q.container_name, q.container_attempt_id, q.operation_id,
       q.state, q.relayed_through, q.transcript_through, q.input_through, q.created_at, q.released_at, q.version
FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::uuid[], $8::text[],
            $9::bigint[], $10::bigint[], $11::bigint[], $12::timestamptz[], $13::timestamptz[], $14::bigint[])
  AS q (session_id, account_id, actor_id, runner_id, container_name, container_attempt_id, operation_id, state,
        relayed_through, transcript_through, input_through, created_at, released_at, version)
ON CONFLICT DO NOTHING
RETURNING session_id;
