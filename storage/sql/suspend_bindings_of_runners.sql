UPDATE session_bindings b SET state = 'suspended', version = b.version + 1
WHERE b.runner_id = ANY ($1::uuid[]) AND b.state = 'live';
