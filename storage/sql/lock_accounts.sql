-- Accounts that this batch changes, before the guards lock them shared; see lock_spaces.
SELECT a.id FROM accounts a WHERE a.id = ANY ($1::uuid[]) ORDER BY a.id FOR NO KEY UPDATE;
