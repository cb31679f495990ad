-- A live binding stands under the current attempt of its container, and was begun by a promoted operation of the same
-- account, actor, Runner and container.
SELECT format('session %s is live in container %s under attempt %s; the container''s attempt is %s', b.session_id,
              b.container_name, b.container_attempt_id, coalesce(c.attempt_id::text, 'none'))
FROM session_bindings b LEFT JOIN containers c ON c.name = b.container_name
WHERE b.state = 'live' AND b.container_attempt_id IS DISTINCT FROM c.attempt_id
UNION ALL
SELECT format('session %s is live in container %s, and operation %s, which began it, is %s', b.session_id,
              b.container_name, b.operation_id, coalesce(o.state || ' for another session, account or place', 'not there'))
FROM session_bindings b LEFT JOIN session_operations o ON o.id = b.operation_id
WHERE b.state = 'live' AND (o.id IS NULL OR (o.state, o.session_id, o.account_id, o.actor_id, o.runner_id,
                                            o.container_name, o.container_attempt_id)
  IS DISTINCT FROM ('promoted', b.session_id, b.account_id, b.actor_id, b.runner_id, b.container_name,
                    b.container_attempt_id));
