-- The whole history of each thread, newest first (spec 03 section 3).
SELECT q.n,
       a.id, a.thread_id, a.agent_id, a.external_session_ref, a.started, a.model, a.cost_baseline_micros,
       a.cumulative_cost_micros, a.cost_is_estimate, a.currency, a.created_at, a.ended_at, a.end_reason, a.version
FROM unnest($1::uuid[]) WITH ORDINALITY AS q (thread_id, n)
JOIN agent_sessions a ON a.thread_id = q.thread_id
ORDER BY q.n, a.created_at DESC, a.id DESC;
