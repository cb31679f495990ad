-- A session whose stop was promoted is not live any more, unless a later operation has resumed it.
SELECT format('session %s in container %s is live, and operation %s has stopped it', b.session_id, b.container_name, o.id)
FROM session_operations o
JOIN session_bindings b ON b.session_id = o.stop_session_id AND b.container_attempt_id = o.container_attempt_id
LEFT JOIN session_operations l ON l.id = b.operation_id
WHERE o.kind = 'stop' AND o.state = 'promoted' AND b.state = 'live' AND (l.id IS NULL OR l.created_at <= o.created_at);
