SELECT q.n,
       k.id, k.principal_id, k.label, k.digest, k.created_at, k.expires_at, k.revoked_at,
       p.id, p.kind, p.name, p.instance_owner, p.created_at, p.version,
       p.tool_class, p.billing_mode, p.holder_id, p.enabled, p.reachable, p.default_model
FROM unnest($1::bytea[]) WITH ORDINALITY AS q (digest, n)
CROSS JOIN LATERAL (SELECT * FROM tokens d WHERE d.digest = q.digest LIMIT 1) k
JOIN principals p ON p.id = k.principal_id;
