-- An operation that passed its deadline has an orphan diagnostic, and one that is open has its operation, failed.
SELECT format('operation %s in container %s has passed its deadline, and no orphan diagnostic tells of it', o.id,
              o.container_name)
FROM session_operations o
WHERE o.failure_code = 'deadline_exceeded' AND o.state = 'failed'
  AND NOT EXISTS (SELECT 1 FROM orphan_diagnostics d WHERE d.operation_id = o.id)
  -- A resolved one may be gone; who has resolved it is in the audit log for good.
  AND NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.action = 'orphan.resolve' AND a.time >= o.finished_at)
UNION ALL
SELECT format('orphan diagnostic %s of container %s is open, and its operation %s is %s', d.id, d.container_name,
              d.operation_id, coalesce(o.state, 'not there'))
FROM orphan_diagnostics d LEFT JOIN session_operations o ON o.id = d.operation_id
WHERE d.resolved_at IS NULL AND (o.id IS NULL OR o.state <> 'failed')
UNION ALL
SELECT format('orphan diagnostic %s is resolved by nobody', d.id)
FROM orphan_diagnostics d WHERE (d.resolved_at IS NULL) <> (d.resolved_by IS NULL);
