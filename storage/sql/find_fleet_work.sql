-- Containers to look after, the most urgent first: past the deadline, a cleanup past its own, to be asked about here.
SELECT w.container_name FROM (
  SELECT DISTINCT ON (u.container_name) u.container_name, u.urgency, u.due FROM (
    (SELECT o.container_name, 0 AS urgency, o.dispatched_at AS due FROM session_operations o
     WHERE o.state IN ('reserved', 'dispatched')
       AND o.dispatched_at <= $1::timestamptz - $2::bigint * interval '1 second'
     ORDER BY o.dispatched_at LIMIT $5::bigint)
    UNION ALL
    (SELECT o.container_name, 1, o.cleanup_deadline FROM session_operations o
     WHERE o.cleanup = 'claimed' AND o.cleanup_deadline <= $1::timestamptz
     ORDER BY o.cleanup_deadline LIMIT $5::bigint)
    UNION ALL
    (SELECT o.container_name, 2, o.dispatched_at FROM session_operations o
     CROSS JOIN LATERAL (SELECT i.node_id FROM runners i WHERE i.id = o.runner_id LIMIT 1) r
     WHERE o.state IN ('reserved', 'dispatched') AND r.node_id = $4::uuid
       AND o.dispatched_at <= $1::timestamptz - $3::bigint * interval '1 millisecond'
     ORDER BY o.dispatched_at LIMIT $5::bigint)
  ) u ORDER BY u.container_name, u.urgency, u.due
) w ORDER BY w.urgency, w.due, w.container_name LIMIT $5::bigint;
