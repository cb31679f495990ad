UPDATE container_attempts a SET is_current = false WHERE a.container_name = ANY ($1::text[]) AND a.is_current;
