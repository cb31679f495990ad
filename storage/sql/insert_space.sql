INSERT INTO spaces (id, name, owner_id, created_at, version, facts_version)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING;
