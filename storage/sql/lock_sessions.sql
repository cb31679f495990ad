-- In ascending id for the whole batch (spec 03 section 13).
SELECT a.id FROM agent_sessions a WHERE a.id = ANY ($1::uuid[]) ORDER BY a.id FOR UPDATE;
