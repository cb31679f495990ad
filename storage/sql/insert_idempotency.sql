-- A key that is there already is not returned. First of all writes, so that a request that is sent twice at once
-- waits here and not with rows locked.
INSERT INTO idempotency_records (principal_id, key, fingerprint, status, body, etag, created_at, expires_at)
SELECT q.principal_id, q.key, q.fingerprint, q.status, q.body, q.etag, q.created_at, q.expires_at
FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::bigint[], $5::text[], $6::bigint[], $7::timestamptz[],
            $8::timestamptz[]) AS q (principal_id, key, fingerprint, status, body, etag, created_at, expires_at)
ON CONFLICT DO NOTHING
RETURNING principal_id, key;
