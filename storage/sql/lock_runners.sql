-- Runners that this batch changes, before the guards lock them shared; see lock_spaces.
SELECT r.id FROM runners r WHERE r.id = ANY ($1::uuid[]) ORDER BY r.id FOR NO KEY UPDATE;
