DELETE FROM idempotency_records r WHERE r.ctid = ANY (ARRAY(
  SELECT e.ctid FROM idempotency_records e WHERE e.expires_at <= $1
  ORDER BY e.expires_at LIMIT $2::bigint FOR UPDATE SKIP LOCKED
));
