DELETE FROM account_secrets s WHERE s.account_id = $1 AND s.name = $2;
