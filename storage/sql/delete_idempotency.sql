DELETE FROM idempotency_records r USING (
  SELECT e.principal_id, e.key FROM idempotency_records e WHERE e.expires_at <= $1
  ORDER BY e.expires_at LIMIT $2::bigint FOR UPDATE SKIP LOCKED
) old
WHERE r.principal_id = old.principal_id AND r.key = old.key;
