SELECT p.id, p.kind, p.name, p.instance_owner, p.created_at, p.version,
       p.tool_class, p.billing_mode, p.holder_id, p.enabled, p.reachable, p.default_model
FROM principals p WHERE p.id = $1;
