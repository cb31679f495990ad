SELECT q.n, r.principal_id, r.key, r.fingerprint, r.status::bigint, r.body, r.etag, r.created_at, r.expires_at
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS q (principal_id, key, n)
CROSS JOIN LATERAL (
  SELECT * FROM idempotency_records i WHERE i.principal_id = q.principal_id AND i.key = q.key LIMIT 1
) r;
