UPDATE session_bindings b SET state = 'suspended', version = b.version + 1
WHERE b.container_name = ANY ($1::text[]) AND b.state = 'live';
