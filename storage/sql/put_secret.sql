INSERT INTO account_secrets (account_id, name, sealed, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at;
