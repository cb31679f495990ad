-- Equal denials of a window, on whatever server, share one entry (spec 03 section 2).
INSERT INTO audit_log (id, time, actor_id, action, allowed, resource_kind, resource_id, reason, count, details,
                       deny_key)
SELECT q.id, q.time, q.actor_id, q.action, q.allowed, q.resource_kind, q.resource_id, q.reason, q.count,
       q.details::json, q.deny_key
FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::boolean[], $6::text[], $7::uuid[], $8::text[],
            $9::bigint[], $10::text[], $11::bytea[])
  AS q (id, time, actor_id, action, allowed, resource_kind, resource_id, reason, count, details, deny_key)
ON CONFLICT (deny_key) WHERE deny_key IS NOT NULL DO UPDATE SET count = audit_log.count + excluded.count;
