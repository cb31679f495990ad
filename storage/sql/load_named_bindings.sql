-- Bindings by session id, each with the secret of its account that is asked for.
SELECT q.n,
       b.session_id, b.account_id, b.actor_id, b.runner_id, b.container_name, b.container_attempt_id, b.operation_id,
       b.state, b.relayed_through, b.transcript_through, b.input_through, b.created_at, b.released_at, b.version,
       s.account_id, s.name, s.sealed, s.updated_at
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS q (session_id, secret_name, n)
CROSS JOIN LATERAL (SELECT * FROM session_bindings i WHERE i.session_id = q.session_id LIMIT 1) b
LEFT JOIN LATERAL (
  SELECT * FROM account_secrets i WHERE i.account_id = b.account_id AND i.name = q.secret_name LIMIT 1
) s ON true;
