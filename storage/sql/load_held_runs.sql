-- The held runs of each thread, oldest first, each with what its release depends on: who triggered it and its agent,
-- what both hold on the thread (as in load_levels), and its message. Ids of one millisecond are in no order, so they do
-- not say which is older. The order inside keeps the look-up of runs LATERAL where a limit would leave some out.
SELECT q.n,
       r.id, r.thread_id, r.agent_id, r.kind, r.state, r.triggered_by, r.message_id, r.agent_session_id, r.bind_failed,
       r.failure_code, r.failure_detail, r.created_at, r.queued_at, r.started_at, r.finished_at, r.lease_expires_at, r.version,
       p.id, p.kind, p.name, p.instance_owner, p.created_at, p.version,
       p.tool_class, p.billing_mode, p.holder_id, p.enabled, p.reachable, p.default_model,
       CASE WHEN s.owner_id = p.id THEN 'manage' ELSE (
         SELECT max(held.level)::text
         FROM unnest(ARRAY[t.id, t.channel_id, t.space_id]) AS path (id)
         CROSS JOIN LATERAL (
           SELECT g.level FROM grants g WHERE g.resource_id = path.id AND g.principal_id = p.id LIMIT 1
         ) held
       ) END,
       a.id, a.kind, a.name, a.instance_owner, a.created_at, a.version,
       a.tool_class, a.billing_mode, a.holder_id, a.enabled, a.reachable, a.default_model,
       CASE WHEN s.owner_id = a.id THEN 'manage' ELSE (
         SELECT max(held.level)::text
         FROM unnest(ARRAY[t.id, t.channel_id, t.space_id]) AS path (id)
         CROSS JOIN LATERAL (
           SELECT g.level FROM grants g WHERE g.resource_id = path.id AND g.principal_id = a.id LIMIT 1
         ) held
       ) END,
       m.id, m.thread_id, m.author_id, m.kind, m.origin, m.content_md, m.system_code, m.run_id, m.created_at
FROM unnest($1::uuid[]) WITH ORDINALITY AS q (thread_id, n)
CROSS JOIN LATERAL (SELECT * FROM threads o WHERE o.id = q.thread_id LIMIT 1) t
CROSS JOIN LATERAL (SELECT * FROM spaces o WHERE o.id = t.space_id LIMIT 1) s
CROSS JOIN LATERAL (SELECT * FROM runs o WHERE o.thread_id = t.id AND o.state = 'held' ORDER BY o.created_at, o.id) r
CROSS JOIN LATERAL (SELECT * FROM principals o WHERE o.id = r.triggered_by LIMIT 1) p
CROSS JOIN LATERAL (SELECT * FROM principals o WHERE o.id = r.agent_id LIMIT 1) a
CROSS JOIN LATERAL (SELECT * FROM messages o WHERE o.id = r.message_id LIMIT 1) m
ORDER BY q.n, r.created_at, r.id;
