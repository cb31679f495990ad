SELECT q.n,
       k.id, k.principal_id, k.label, k.digest, k.created_at, k.expires_at, k.revoked_at,
       p.id, p.kind, p.name, p.instance_owner, p.created_at, p.version,
       p.tool_class, p.billing_mode, p.holder_id, p.enabled, p.reachable, p.default_model
FROM unnest($1::bytea[]) WITH ORDINALITY AS q (digest, n)
JOIN tokens k ON k.digest = q.digest
JOIN principals p ON p.id = k.principal_id;
