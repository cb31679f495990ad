-- Unresolved orphans of containers, oldest first. The order inside keeps the look-up LATERAL.
SELECT q.n,
       o.id, o.reason, o.operation_id, o.account_id, o.actor_id, o.runner_id, o.container_name,
       o.container_attempt_id, o.expected_session_id, o.reported_session_id, o.opened_at, o.resolved_at,
       o.resolved_by, o.version
FROM unnest($1::text[]) WITH ORDINALITY AS q (name, n)
CROSS JOIN LATERAL (
  SELECT * FROM orphan_diagnostics i WHERE i.container_name = q.name AND i.resolved_at IS NULL ORDER BY i.id
) o
ORDER BY q.n, o.id;
