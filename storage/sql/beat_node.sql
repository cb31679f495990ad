INSERT INTO nodes (id, address, heartbeat_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (id) DO UPDATE SET address = excluded.address, heartbeat_at = excluded.heartbeat_at;
