SELECT q.n, p.id, p.kind, p.name, p.instance_owner, p.created_at, p.version,
       p.tool_class, p.billing_mode, p.holder_id, p.enabled, p.reachable, p.default_model
FROM unnest($1::uuid[]) WITH ORDINALITY AS q (id, n)
JOIN principals p ON p.id = q.id;
