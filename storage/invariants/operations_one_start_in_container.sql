-- A container has at most one start or resume in flight under an attempt, and none beside a live binding.
SELECT format('container %s has %s starts in flight under attempt %s: %s', o.container_name, count(*),
              o.container_attempt_id, string_agg(o.id::text, ', ' ORDER BY o.id))
FROM session_operations o WHERE o.kind IN ('fresh', 'resume') AND o.state IN ('reserved', 'dispatched')
GROUP BY o.container_name, o.container_attempt_id HAVING count(*) > 1
UNION ALL
SELECT format('operation %s is in flight in container %s, where session %s is live under the same attempt', o.id,
              o.container_name, b.session_id)
FROM session_operations o
JOIN session_bindings b ON b.container_name = o.container_name AND b.container_attempt_id = o.container_attempt_id
WHERE o.kind IN ('fresh', 'resume') AND o.state IN ('reserved', 'dispatched') AND b.state = 'live';
