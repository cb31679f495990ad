INSERT INTO runner_tokens (id, runner_id, label, digest, created_at, expires_at, revoked_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING;
