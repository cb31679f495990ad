SELECT q.n,
       o.id, o.reason, o.operation_id, o.account_id, o.actor_id, o.runner_id, o.container_name,
       o.container_attempt_id, o.expected_session_id, o.reported_session_id, o.opened_at, o.resolved_at,
       o.resolved_by, o.version
FROM unnest($1::uuid[]) WITH ORDINALITY AS q (id, n)
CROSS JOIN LATERAL (SELECT * FROM orphan_diagnostics i WHERE i.id = q.id LIMIT 1) o;
