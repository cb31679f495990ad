SELECT newest.id
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS q (agent_id, external_session_ref, n)
LEFT JOIN LATERAL (
  SELECT a.id FROM agent_sessions a
  WHERE a.agent_id = q.agent_id AND a.external_session_ref = q.external_session_ref
  ORDER BY a.created_at DESC, a.id DESC LIMIT 1
) newest ON true
ORDER BY q.n;
