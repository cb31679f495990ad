UPDATE spaces SET facts_version = facts_version + 1 WHERE id = $1;
