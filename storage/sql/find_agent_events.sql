-- Compared as pairs, which only the index of the agent can do: the one of all agents would be scanned for one of them.
SELECT a.seq, a.agent_id, a.type, a.time, a.payload::text
FROM agent_events a
WHERE (a.agent_id, a.seq) > ($1::uuid, $2::bigint) AND (a.agent_id, a.seq) <= ($1::uuid, $3::bigint)
ORDER BY a.agent_id, a.seq LIMIT $4::bigint;
