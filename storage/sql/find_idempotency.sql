SELECT q.n, r.principal_id, r.key, r.fingerprint, r.status::bigint, r.body, r.etag, r.created_at, r.expires_at
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS q (principal_id, key, n)
JOIN idempotency_records r ON r.principal_id = q.principal_id AND r.key = q.key;
