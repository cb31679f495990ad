SELECT s.account_id, s.name, s.sealed, s.updated_at FROM account_secrets s WHERE s.account_id = $1 AND s.name = $2;
