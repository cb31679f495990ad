-- A binding that is released says when, and no other does; none was begun by an operation that failed.
SELECT format('session %s in container %s is %s, released_at is %s', b.session_id, b.container_name, b.state,
              coalesce(b.released_at::text, 'not set'))
FROM session_bindings b WHERE (b.released_at IS NOT NULL) <> (b.state = 'released')
UNION ALL
SELECT format('session %s in container %s was begun by operation %s, which is %s', b.session_id, b.container_name, o.id,
              o.state)
FROM session_bindings b JOIN session_operations o ON o.id = b.operation_id
WHERE o.state <> 'promoted' OR o.kind = 'stop';
