-- A Runner that a server holds has connected under an enrolment.
SELECT format('Runner %s is held by node %s; it has epoch %s, enrolment %s and %s', r.id, r.node_id, r.epoch,
              r.enrollment_revision, CASE WHEN r.connected_at IS NULL THEN 'has never connected' ELSE 'is marked as gone' END)
FROM runners r
WHERE r.node_id IS NOT NULL
  AND (r.connected_at IS NULL OR r.disconnected_at IS NOT NULL OR r.epoch < 1 OR r.enrollment_revision < 1);
