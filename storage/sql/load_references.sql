-- Both rows of each reference by their indexes, in one statement, so that they are of one moment.
SELECT q.n, a.is_newest,
       a.id, a.thread_id, a.agent_id, a.external_session_ref, a.started, a.model, a.cost_baseline_micros,
       a.cumulative_cost_micros, a.cost_is_estimate, a.currency, a.created_at, a.ended_at, a.end_reason, a.version
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS q (agent_id, external_session_ref, n)
CROSS JOIN LATERAL (
  (SELECT true AS is_newest, r.* FROM agent_sessions r
   WHERE r.agent_id = q.agent_id AND r.external_session_ref = q.external_session_ref
   ORDER BY r.created_at DESC, r.id DESC LIMIT 1)
  UNION ALL
  (SELECT false, r.* FROM agent_sessions r
   WHERE r.agent_id = q.agent_id AND r.external_session_ref = q.external_session_ref AND r.is_current
   LIMIT 1)
) a;
