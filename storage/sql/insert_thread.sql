INSERT INTO threads (id, space_id, channel_id, kind, title, state, operator_agent_id, created_at, version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT DO NOTHING;
