-- The named resources with what they lie in, and the actor's level on the deepest of them; always one row. A run
-- stands for its thread.
SELECT t.id, t.space_id, t.channel_id, t.kind, t.title, t.state, t.operator_agent_id, t.created_at, t.version,
       c.id, c.space_id, c.name, c.mode, c.operator_agent_id, c.main_thread_id, c.created_at, c.version,
       s.id, s.name, s.owner_id, s.created_at, s.version, s.facts_version,
       r.id, r.thread_id, r.agent_id, r.kind, r.state, r.triggered_by, r.message_id, r.agent_session_id, r.bind_failed,
       r.failure_code, r.failure_detail, r.created_at, r.queued_at, r.started_at, r.finished_at, r.lease_expires_at, r.version,
       CASE
         WHEN CASE WHEN q.run_id IS NULL THEN q.deepest_id ELSE r.thread_id END
              IS DISTINCT FROM coalesce(t.id, c.id, s.id) THEN NULL
         WHEN s.owner_id = q.actor_id THEN 'manage'
         ELSE (
           SELECT max(held.level)::text
           FROM unnest(ARRAY[t.id, c.id, s.id]) AS path (id)
           CROSS JOIN LATERAL (
             SELECT g.level FROM grants g WHERE g.resource_id = path.id AND g.principal_id = q.actor_id LIMIT 1
           ) held
         )
       END
FROM (
  SELECT $1::uuid AS space_id, $2::uuid AS channel_id, $3::uuid AS thread_id, $4::uuid AS actor_id,
         $5::uuid AS run_id, coalesce($3::uuid, $2::uuid, $1::uuid) AS deepest_id
) q
LEFT JOIN LATERAL (SELECT * FROM runs i WHERE i.id = q.run_id LIMIT 1) r ON true
LEFT JOIN threads t ON t.id = CASE WHEN q.run_id IS NULL THEN q.thread_id ELSE r.thread_id END
LEFT JOIN channels c ON c.id = coalesce(t.channel_id, q.channel_id)
LEFT JOIN spaces s ON s.id = coalesce(t.space_id, c.space_id, q.space_id);
