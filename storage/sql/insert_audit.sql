INSERT INTO audit_log (id, time, actor_id, action, allowed, resource_kind, resource_id, reason, count, details)
SELECT q.id, q.time, q.actor_id, q.action, q.allowed, q.resource_kind, q.resource_id, q.reason, q.count,
       q.details::json
FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::boolean[], $6::text[], $7::uuid[], $8::text[],
            $9::bigint[], $10::text[])
  AS q (id, time, actor_id, action, allowed, resource_kind, resource_id, reason, count, details)
ON CONFLICT DO NOTHING
RETURNING id;
