INSERT INTO channels (id, space_id, name, mode, operator_agent_id, main_thread_id, created_at, version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING;
