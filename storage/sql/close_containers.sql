-- The containers of a Runner that get none.
UPDATE containers c SET attempt_id = NULL, version = c.version + 1
WHERE c.runner_id = $1 AND c.name <> ALL ($2::text[]);
