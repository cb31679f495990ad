-- One row a thread that exists: everything that its rights and its sessions depend on.
-- Each look-up in a table that grows is LATERAL with a limit, here and in the statements like this one: so it stays a
-- look-up through an index even where the planner still believes the table to be empty.
SELECT q.n,
       t.id, t.space_id, t.channel_id, t.kind, t.title, t.state, t.operator_agent_id, t.created_at, t.version,
       c.id, c.space_id, c.name, c.mode, c.operator_agent_id, c.main_thread_id, c.created_at, c.version,
       s.id, s.name, s.owner_id, s.created_at, s.version, s.facts_version,
       p.id, p.kind, p.name, p.instance_owner, p.created_at, p.version,
       p.tool_class, p.billing_mode, p.holder_id, p.enabled, p.reachable, p.default_model,
       a.id, a.thread_id, a.agent_id, a.external_session_ref, a.started, a.model, a.cost_baseline_micros,
       a.cumulative_cost_micros, a.cost_is_estimate, a.currency, a.created_at, a.ended_at, a.end_reason, a.version,
       newest.created_at
FROM unnest($1::uuid[]) WITH ORDINALITY AS q (thread_id, n)
CROSS JOIN LATERAL (SELECT * FROM threads r WHERE r.id = q.thread_id LIMIT 1) t
JOIN channels c ON c.id = t.channel_id
JOIN spaces s ON s.id = t.space_id
LEFT JOIN principals p ON p.id = CASE t.kind WHEN 'main' THEN c.operator_agent_id ELSE t.operator_agent_id END
LEFT JOIN LATERAL (SELECT * FROM agent_sessions r WHERE r.thread_id = t.id AND r.is_current LIMIT 1) a ON true
LEFT JOIN LATERAL (
  SELECT h.created_at FROM agent_sessions h WHERE h.thread_id = t.id
  ORDER BY h.created_at DESC, h.id DESC LIMIT 1
) newest ON true;
