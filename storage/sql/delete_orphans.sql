DELETE FROM orphan_diagnostics o WHERE o.ctid = ANY (ARRAY(
  SELECT e.ctid FROM orphan_diagnostics e
  WHERE e.resolved_at <= $1::timestamptz - $2::bigint * interval '1 second'
  ORDER BY e.resolved_at, e.id LIMIT $3::bigint FOR UPDATE SKIP LOCKED
));
