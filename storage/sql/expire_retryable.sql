-- A retryable failure that nobody has tried again in time is final.
UPDATE session_operations o SET failure_class = 'terminal', version = o.version + 1 WHERE o.ctid = ANY (ARRAY(
  SELECT e.ctid FROM session_operations e
  WHERE e.failure_class = 'retryable' AND e.finished_at <= $1::timestamptz - $2::bigint * interval '1 second'
  ORDER BY e.finished_at, e.id LIMIT $3::bigint FOR UPDATE SKIP LOCKED
));
