-- A binding that is not as it was seen, or that is not of this account, actor and container, is not returned.
UPDATE session_bindings b
SET runner_id = q.runner_id, container_attempt_id = q.container_attempt_id, operation_id = q.operation_id,
    state = q.state, relayed_through = q.relayed_through, transcript_through = q.transcript_through,
    input_through = q.input_through, released_at = q.released_at, version = q.version
FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::uuid[], $8::text[],
            $9::bigint[], $10::bigint[], $11::bigint[], $12::timestamptz[], $13::bigint[])
  AS q (session_id, account_id, actor_id, runner_id, container_name, container_attempt_id, operation_id, state,
        relayed_through, transcript_through, input_through, released_at, version)
WHERE b.session_id = q.session_id AND b.version = q.version - 1 AND b.account_id = q.account_id
  AND b.actor_id = q.actor_id AND b.container_name = q.container_name
RETURNING b.session_id;
