INSERT INTO principals (id, kind, name, instance_owner, created_at, version, tool_class, billing_mode, holder_id,
                        enabled, reachable, default_model)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT DO NOTHING;
