-- A row that an index refuses is not returned; no unique violation aborts the batch (spec 03 section 13).
INSERT INTO agent_sessions (id, thread_id, agent_id, external_session_ref, is_current, started, model,
                            cost_baseline_micros, cumulative_cost_micros, cost_is_estimate, currency, created_at,
                            ended_at, end_reason, version)
SELECT q.id, q.thread_id, q.agent_id, q.external_session_ref, q.ended_at IS NULL, q.started, q.model,
       q.cost_baseline_micros, q.cumulative_cost_micros, q.cost_is_estimate, q.currency, q.created_at, q.ended_at,
       q.end_reason, q.version
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::boolean[], $6::text[], $7::bigint[], $8::bigint[],
            $9::boolean[], $10::text[], $11::timestamptz[], $12::timestamptz[], $13::text[], $14::bigint[])
  AS q (id, thread_id, agent_id, external_session_ref, started, model, cost_baseline_micros, cumulative_cost_micros,
        cost_is_estimate, currency, created_at, ended_at, end_reason, version)
ON CONFLICT DO NOTHING
RETURNING id;
