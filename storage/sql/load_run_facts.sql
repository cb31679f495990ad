-- One row a thread that exists: what its runs are decided on. The import row is looked for where no other row is.
SELECT q.n, clock_timestamp(), t.runs_version,
       r.id, r.thread_id, r.agent_id, r.kind, r.state, r.triggered_by, r.message_id, r.agent_session_id, r.bind_failed,
       r.failure_code, r.failure_detail, r.created_at, r.queued_at, r.started_at, r.finished_at, r.lease_expires_at, r.version,
       a.id, a.thread_id, a.agent_id, a.external_session_ref, a.started, a.model, a.cost_baseline_micros,
       a.cumulative_cost_micros, a.cost_is_estimate, a.currency, a.created_at, a.ended_at, a.end_reason, a.version,
       used.id IS NOT NULL,
       i.id, i.thread_id, i.agent_id, i.external_session_ref, i.started, i.model, i.cost_baseline_micros,
       i.cumulative_cost_micros, i.cost_is_estimate, i.currency, i.created_at, i.ended_at, i.end_reason, i.version,
       taken.id IS NOT NULL
FROM unnest($1::uuid[]) WITH ORDINALITY AS q (thread_id, n)
CROSS JOIN LATERAL (SELECT * FROM threads r WHERE r.id = q.thread_id LIMIT 1) t
CROSS JOIN LATERAL (SELECT * FROM channels r WHERE r.id = t.channel_id LIMIT 1) c
LEFT JOIN LATERAL (
  SELECT * FROM runs u WHERE u.thread_id = t.id AND u.state IN ('queued', 'running', 'waiting_input') LIMIT 1
) r ON true
LEFT JOIN LATERAL (SELECT * FROM agent_sessions s WHERE s.id = r.agent_session_id LIMIT 1) a ON true
LEFT JOIN LATERAL (SELECT s.id FROM agent_sessions s WHERE s.thread_id = t.id AND s.is_current LIMIT 1) current ON true
LEFT JOIN LATERAL (SELECT u.id FROM runs u WHERE u.agent_session_id = current.id LIMIT 1) used ON true
LEFT JOIN LATERAL (
  SELECT s.id FROM agent_sessions s WHERE s.thread_id = t.id AND s.end_reason IS DISTINCT FROM 'import'
  ORDER BY s.created_at DESC, s.id DESC LIMIT 1
) other ON true
LEFT JOIN LATERAL (
  SELECT * FROM agent_sessions s
  WHERE s.thread_id = t.id AND other.id IS NULL
    AND s.agent_id = CASE t.kind WHEN 'main' THEN c.operator_agent_id ELSE t.operator_agent_id END
  ORDER BY s.created_at DESC, s.id DESC LIMIT 1
) i ON true
LEFT JOIN LATERAL (
  SELECT s.id FROM agent_sessions s
  WHERE s.agent_id = i.agent_id AND s.external_session_ref = i.external_session_ref AND s.is_current LIMIT 1
) taken ON true;
