-- facts_version has a statement of its own: an update of the name must not take back what was raised meanwhile.
UPDATE spaces SET name = $2, owner_id = $3, version = $4::bigint WHERE id = $1 AND version = $4::bigint - 1;
