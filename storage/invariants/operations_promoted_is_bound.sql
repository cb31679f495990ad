-- A promoted start or resume has its session and the session its binding.
SELECT format('operation %s in container %s is promoted, and session %s has no binding of its account, actor and container',
              o.id, o.container_name, coalesce(o.session_id, 'none'))
FROM session_operations o LEFT JOIN session_bindings b ON b.session_id = o.session_id
  AND b.account_id = o.account_id AND b.actor_id = o.actor_id AND b.container_name = o.container_name
WHERE o.kind IN ('fresh', 'resume') AND o.state = 'promoted' AND b.session_id IS NULL
UNION ALL
SELECT format('operation %s in container %s has failed, and session %s, which was reserved for it, is bound', o.id,
              o.container_name, o.fresh_session_id)
FROM session_operations o JOIN session_bindings b ON b.session_id = o.fresh_session_id
WHERE o.kind = 'fresh' AND o.state = 'failed';
