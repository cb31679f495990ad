-- Each kind by its index, oldest first. now() and not clock_timestamp(), because an index can only stop at a moment
-- that does not move; the write that fails the run asks the clock once more.
SELECT r.id, r.thread_id,
       p.id, p.kind, p.name, p.instance_owner, p.created_at, p.version,
       p.tool_class, p.billing_mode, p.holder_id, p.enabled, p.reachable, p.default_model
FROM (
  (SELECT l.id, l.thread_id, l.agent_id, l.lease_expires_at AS due FROM runs l
   WHERE l.state IN ('running', 'waiting_input') AND l.lease_expires_at <= now()
   ORDER BY l.lease_expires_at LIMIT $2::bigint)
  UNION ALL
  (SELECT w.id, w.thread_id, w.agent_id, w.queued_at + $1::bigint * interval '1 second' FROM runs w
   WHERE w.state = 'queued' AND w.queued_at <= now() - $1::bigint * interval '1 second'
   ORDER BY w.queued_at LIMIT $2::bigint)
) r
CROSS JOIN LATERAL (SELECT * FROM principals a WHERE a.id = r.agent_id LIMIT 1) p
ORDER BY r.due, r.id LIMIT $2::bigint;
