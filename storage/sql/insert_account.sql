INSERT INTO accounts (id, name, actor_id, created_at, version)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING;
