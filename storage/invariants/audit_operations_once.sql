-- Every start, resume and retry of an agent has one entry in the audit log.
WITH told AS (
  SELECT a.details ->> 'operation_id' AS id, a.action, count(*) AS times
  FROM audit_log a WHERE a.allowed AND a.details ->> 'operation_id' IS NOT NULL GROUP BY 1, 2
)
SELECT format('operation %s (%s) in container %s has %s audit entries', o.id, o.kind, o.container_name,
              coalesce(b.times, 0))
FROM session_operations o
LEFT JOIN told b ON b.id = o.id::text
  AND b.action = CASE o.kind WHEN 'fresh' THEN 'agent_session.start' ELSE 'agent_session.' || o.kind END
WHERE coalesce(b.times, 0) > 1 OR (b.times IS NULL AND o.kind <> 'stop')
UNION ALL
SELECT format('operation %s in container %s was dispatched %s times, and the audit log has %s retries', o.id,
              o.container_name, o.dispatch, coalesce(r.times, 0))
FROM session_operations o LEFT JOIN told r ON r.id = o.id::text AND r.action = 'agent_session.retry'
WHERE o.dispatch <> 1 + coalesce(r.times, 0);
