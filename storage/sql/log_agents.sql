SELECT DISTINCT a.agent_id FROM agent_events a WHERE a.seq > $1::bigint AND a.seq <= $2::bigint;
