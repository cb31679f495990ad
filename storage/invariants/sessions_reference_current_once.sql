-- A reference of an agent is current in at most one thread.
SELECT format('a reference of agent %s is current in %s sessions: %s', s.agent_id, count(*),
              string_agg(s.id::text, ', ' ORDER BY s.id))
FROM agent_sessions s WHERE s.is_current GROUP BY s.agent_id, s.external_session_ref HAVING count(*) > 1;
