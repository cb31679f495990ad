-- Of each reference the row of this thread that a reset, a bind or another agent ended last.
SELECT q.n,
       a.id, a.thread_id, a.agent_id, a.external_session_ref, a.started, a.model, a.cost_baseline_micros,
       a.cumulative_cost_micros, a.cost_is_estimate, a.currency, a.created_at, a.ended_at, a.end_reason, a.version
FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS q (thread_id, agent_id, external_session_ref, n)
CROSS JOIN LATERAL (
  SELECT * FROM agent_sessions r
  WHERE r.agent_id = q.agent_id AND r.external_session_ref = q.external_session_ref AND r.thread_id = q.thread_id
    AND r.end_reason <> 'import'
  ORDER BY r.ended_at DESC, r.id DESC LIMIT 1
) a;
