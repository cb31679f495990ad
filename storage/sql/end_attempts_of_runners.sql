UPDATE container_attempts a SET is_current = false WHERE a.runner_id = ANY ($1::uuid[]) AND a.is_current;
