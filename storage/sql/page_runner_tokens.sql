SELECT t.id, t.runner_id, t.label, t.digest, t.created_at, t.expires_at, t.revoked_at
FROM runner_tokens t WHERE t.runner_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3::bigint;
