-- A session has at most one stop in flight.
SELECT format('session %s has %s stops in flight: %s', o.stop_session_id, count(*),
              string_agg(o.id::text, ', ' ORDER BY o.id))
FROM session_operations o WHERE o.kind = 'stop' AND o.state IN ('reserved', 'dispatched')
GROUP BY o.stop_session_id HAVING count(*) > 1;
